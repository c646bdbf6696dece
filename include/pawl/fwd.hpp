#pragma once

// Forward declarations of what the library's public headers name but do not define.
// libpqxx's transaction classes keep these names from 6.4 to 8.x; its connection class does not, and is not named here.

namespace pqxx {
class transaction_base;
class dbtransaction;
}  // namespace pqxx

namespace spdlog {
class logger;
}

namespace pawl {
class Backoff;
class Clock;
class Duration;
class ErrorSanitizer;
class Failure;
class JobBuilder;
class JobContext;
class JobHandle;
class RandomSource;
class RetryPolicy;
class Scheduler;
struct ErrorRecord;
struct JobInfo;
struct JobRun;
struct Options;
}  // namespace pawl
