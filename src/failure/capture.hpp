#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pawl/classification.hpp>
#include <pawl/clock.hpp>
#include <pawl/failure.hpp>

#include "model/claimed_job.hpp"

namespace pawl::failure {

/// When a run began and ended, by the host's clock.
struct RunTimes {
    std::optional<Time> started_at;
    Time failed_at{};
};

/// Turns whatever a handler threw into a failure, with its chain of causes and its class. Of things that hold
/// `std::exception_ptr` themselves (RetryAfter, Discard, WorkerFatal) that is the cause.
///
/// Never throws, and never returns null: without memory for more it is a failure that says so.
///
/// **Lifetime**: the failure shares `job`, and owns the exception.
[[nodiscard]] std::shared_ptr<const Failure> capture(std::exception_ptr thrown,
                                                     std::shared_ptr<const model::ClaimedJob> job,
                                                     const RunTimes& times,
                                                     const Classification& classification) noexcept;

/// The error of a run whose hard limit passed. `thrown` is what the handler threw because of it, or null.
[[nodiscard]] std::exception_ptr timed_out(Duration limit, const std::exception_ptr& thrown) noexcept;

/// The error of a handler that ended its thread (a forced unwinding). The executor makes it where it catches
/// `abi::__forced_unwind`, settles the run, and rethrows that.
[[nodiscard]] std::exception_ptr thread_exited() noexcept;

/// A failure that nothing was thrown for, under the name of a type: it has no live exception, and its class is unknown.
[[nodiscard]] std::shared_ptr<const Failure> without_exception(std::string_view type, std::string_view message,
                                                               std::shared_ptr<const model::ClaimedJob> job,
                                                               const RunTimes& times) noexcept;

}  // namespace pawl::failure
