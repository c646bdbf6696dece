#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pawl/backoff.hpp>
#include <pawl/classification.hpp>
#include <pawl/clock.hpp>
#include <pawl/detail/callable.hpp>
#include <pawl/error_record.hpp>
#include <pawl/fwd.hpp>
#include <pawl/health.hpp>
#include <pawl/retry_budget.hpp>
#include <pawl/rules.hpp>

namespace pawl {

/// What a dead letter does to its queue.
enum class DeadLetterAction : unsigned char {
    go_on,
    /// The queue is paused, on all nodes, until it is resumed: for work whose order counts.
    pause_queue,
};

/// A queue that this scheduler takes jobs from.
struct QueueOptions {
    /// 1 to 200 bytes of UTF-8 without control characters. Default `default`.
    std::string name{"default"};
    /// How many of its jobs run here at the same time: that many threads are started. From 0 to 10,000. Zero, the default:
    /// as many as the machine has hardware threads. Too few leave it idle while handlers wait for others; each thread
    /// costs a stack.
    int concurrency{0};
    /// Default `go_on`. Stored with the queue by `start()`, so that it holds whichever node settles the failure; nodes that say
    /// different things overwrite each other.
    DeadLetterAction on_dead_letter{DeadLetterAction::go_on};
    /// What to do about its dead letters: a text or an address, at most 2,000 bytes, shown with each of them. Stored by
    /// `start()`. Empty: none. A kind's own comes before it.
    std::string runbook{};
    /// `start()` refuses without a runbook of the queue, or one of each kind that has a handler here. Default false.
    bool requires_runbook{false};
};

/// How long ended jobs are kept. None keeps them for ever; zero removes them at the next purge.
struct RetentionOptions {
    /// Default 7 days. Results go with their jobs.
    std::optional<Duration> succeeded{std::chrono::days(7)};
    /// Default 7 days.
    std::optional<Duration> canceled{std::chrono::days(7)};
    /// Dead letters and discarded jobs. Default 90 days. What is gone cannot be redriven.
    std::optional<Duration> failed{std::chrono::days(90)};
};

/// The wait before a lost connection is opened anew. It doubles from the first to the longest, with jitter, and there is no
/// last attempt.
struct ReconnectOptions {
    /// From 1 ms to `longest`. Default 0.1 s. Very short ones flood the log and a server that starts.
    Duration first{std::chrono::milliseconds(100)};
    /// Up to 10 min. Default 10 s. It is the longest that work stands still once the database is back.
    Duration longest{std::chrono::seconds(10)};
};

/// How a scheduler is set up. Made for designated initializers; the order of the fields never changes.
///
///     pawl::Scheduler scheduler{{.connection = "postgresql:///shop", .queues = {{"default", 8}, {"mail", 2}}}};
///
/// `Scheduler` checks every field and throws `ConfigError` with its name. There is deliberately nothing that prints
/// options: the connection may hold a password.
struct Options {
    /// A libpq connection string or URI. Empty, the default: what libpq's environment variables and defaults say.
    std::string connection{};

    /// The schema that holds the jobs. Default `pawl`. 1 to 63 bytes, any characters but control ones; it is quoted as it
    /// is, so case counts. Several schemas in one database do not know of each other.
    std::string schema{"pawl"};

    /// Where jobs are taken from; each name once. Empty only for a scheduler that enqueues and is never started.
    std::vector<QueueOptions> queues{QueueOptions{}};

    /// Brings the schema up to date when starting. Default false: a schema that is missing or of an unknown version is
    /// refused, with what to do. True needs the right to create objects.
    bool migrate_on_start{false};

    /// A node that has not been heard of for this long is dead, and its jobs are run by others. Default 30 s; at least 3
    /// heartbeats, at most a day. Short ones take a pause of the machine for a death; long ones leave jobs lying for as
    /// long.
    Duration node_expiry{std::chrono::seconds(30)};

    /// How often a node says that it lives. From 100 ms to a third of `node_expiry`. Default 5 s.
    Duration heartbeat{std::chrono::seconds(5)};

    /// The longest time between two looks for work, whatever notifications say. From 10 ms to 1 h. None, the default: 5 s
    /// when listening, else 1 s. Long ones delay work whose notification got lost.
    std::optional<Duration> poll_floor{};

    /// Listens for notifications of new work on a connection of its own. Default true. False where they do not arrive; work
    /// is then found by looking every `poll_floor`.
    bool listen{true};

    /// The connection goes through a pooler in transaction mode, such as PgBouncer: statements are not prepared, and settings
    /// are made in each transaction, which costs round trips. Needs `listen = false`, since notifications do not pass. Default
    /// false.
    bool behind_pooler{false};

    /// Jobs taken by one claim statement at most. From 1 to 1,024. Default 512. Small ones cost round trips; large ones make
    /// fast jobs wait here while other nodes are idle.
    int claim_limit{512};

    /// How much work, in time at the kinds' mean run times, is claimed ahead of the threads. From zero, which claims only
    /// for free threads, to 1 s. Default 75 ms. Much of it gives other nodes less and comes back at a stop.
    Duration prefetch_target{std::chrono::milliseconds(75)};

    /// The hard limit of one run where neither job nor kind says one. Above zero. Default 30 min. `no_timeout` lets a
    /// handler that hangs hold its thread until the process ends.
    Duration default_timeout{std::chrono::minutes(30)};

    /// The part of a run's limit after which `JobSoftLimit` is told. Above 0, up to 1. Default 0.8; 1 never tells.
    double soft_limit{0.8};

    /// How long after its hard limit a handler may take to end by its stop token, before the run is settled as timed out
    /// without it. From zero to 1 h. Default 10 s.
    Duration timeout_grace{std::chrono::seconds(10)};

    /// Handlers that may hang beyond that, each replaced by a new thread, before no more work is taken. From 0 to 10,000.
    /// Default 4.
    int max_abandoned_threads{4};

    /// What `stop()` gives running handlers to end by themselves. From zero to a day. Default 20 s.
    Duration stop_grace{std::chrono::seconds(20)};

    /// What they get after that, once their stop tokens have fired. From zero to a day. Default 10 s.
    Duration hard_grace{std::chrono::seconds(10)};

    /// Bytes of a payload's JSON text. From 2 to 64 MiB. Default 100 KiB (102,400); a larger one is refused when enqueued.
    /// Keep large things elsewhere and put their name into the job: payloads are read into memory by the batch.
    std::size_t max_payload{100 * 1024};

    /// Bytes of a result's JSON text. Up to 64 MiB. Default 64 KiB. The job of a larger one succeeds, and a note stands in
    /// the result's place. Zero keeps no results.
    std::size_t max_result{64 * 1024};

    /// Retries after the first run where neither job nor kind says it. From 0, which runs once. Default 4.
    int max_retries{4};

    /// The wait before each retry, where neither job nor kind says it. Default exponential from 1 s, at most 10 min, with
    /// equal jitter.
    Backoff backoff{};

    /// How often a job may take its process down before it is a dead letter. From 1 to 100. Default 3.
    int crash_budget{3};

    RetentionOptions retention{};

    /// Events that wait for listeners; beyond it the oldest are dropped and counted. From 1 to 10,000,000. Default 10,000.
    std::size_t event_queue{10'000};

    ReconnectOptions reconnect{};

    /// Where log lines go. None, the default: a logger named `pawl` of our own to stderr; the registry is not touched.
    std::shared_ptr<spdlog::logger> logger{};

    /// The wall clock of event times and log lines. None: the host's.
    std::shared_ptr<const Clock> clock{};

    /// Where jitter comes from. None: a generator of our own, seeded by the system.
    std::shared_ptr<RandomSource> random{};

    /// Asked about every failure that no rule, mark or plan has settled. None: `DefaultRetryPolicy`, which leaves all to the
    /// job.
    std::shared_ptr<const RetryPolicy> retry_policy{};

    /// What error texts pass through before anything is stored or logged. None: `DefaultErrorSanitizer`.
    std::shared_ptr<const ErrorSanitizer> sanitizer{};

    /// Which types and codes are transient, permanent or fatal, on top of what is built in.
    Classification classification{};

    /// Rules for all kinds, searched after each kind's own.
    Rules rules{};

    /// What becomes of permanent errors where the kind does not say it. Default `dead_letter`. With `failed_only` they are
    /// kept as failed and discarded, in no dead letters, counts or alerts.
    PermanentErrors permanent_errors{PermanentErrors::dead_letter};

    /// Bounds the retries of each kind by its first runs, on all nodes that have one; what is above is delayed. None, the
    /// default: no bound.
    std::optional<RetryBudget> retry_budget{};

    /// Called once, with the sanitized error, after a `WorkerFatal` or a type that is classified as fatal has stopped the
    /// workers of this scheduler; the host decides what to do. On the event thread, after `WorkerStopped`. None, the
    /// default: the event and the log line are all. What it throws is contained, as of any listener.
    detail::Callable<void(const ErrorRecord&)> on_fatal{};

    /// Called when the scheduler stops being live or ready for another reason than `stop()`, once until it is well again: for a
    /// page, or for ending a process that only a new one can replace (`Health::live` is false). On the event thread, after
    /// `HealthChanged`. None, the default: the event, the log line and `Scheduler::health()` are all. What it throws is
    /// contained, as of any listener.
    detail::Callable<void(const Health&)> on_unhealthy{};
};

}  // namespace pawl
