#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/export.hpp>
#include <pawl/fwd.hpp>
#include <pawl/job.hpp>

namespace pawl {

/// What a handler may know about its run.
///
///     scheduler.on<Resize>([](const Resize& job, pawl::JobContext& context) {
///         for (const auto& tile : tiles(job)) {
///             context.throw_if_stopped();
///             resize(tile);
///         }
///     });
///
/// **Threads**: const members are safe concurrently.
/// **Lifetime**: valid during the handler's call only; so are the references it gives.
class PAWL_EXPORT JobContext {
public:
    struct Run;

    explicit JobContext(const Run& run) noexcept : run_(run) {}
    JobContext(const JobContext&) = delete;
    JobContext& operator=(const JobContext&) = delete;
    ~JobContext() = default;

    [[nodiscard]] JobId id() const noexcept;
    [[nodiscard]] const std::string& kind() const noexcept;
    [[nodiscard]] const std::string& queue() const noexcept;

    /// Which run this is: 1 on the first. Interrupted and snoozed runs do not count, and neither do lost ones.
    [[nodiscard]] int attempt() const noexcept;
    /// Retries after the first run, as they hold for this job here.
    [[nodiscard]] int max_retries() const noexcept;

    /// What the job was enqueued with.
    [[nodiscard]] const std::map<std::string, std::string>& params() const noexcept;
    /// One of them; none when the job has no such param.
    [[nodiscard]] std::optional<std::string_view> param(std::string_view name) const noexcept;
    /// Trimmed, in lower case, sorted.
    [[nodiscard]] const std::vector<std::string>& tags() const noexcept;

    [[nodiscard]] Time created_at() const noexcept;
    /// When this run was due.
    [[nodiscard]] Time run_at() const noexcept;
    /// When this run began, by the host's wall clock.
    [[nodiscard]] Time started_at() const noexcept;

    /// Fires when this run should end: its hard limit has passed, its scheduler stops, the job was canceled, or its node lost
    /// touch with the database.
    ///
    /// **Threads**: a `std::stop_callback` of the handler is called on a thread of the library, keep it short; as the
    /// standard has it, one that throws ends the process.
    [[nodiscard]] std::stop_token stop_token() const noexcept;

    /// Ends the run from within, if it should end: throws `pawl::Interrupted`, which is no `std::exception` and passes a handler's
    /// `catch (const std::exception&)`.
    ///
    /// **Throws** `pawl::Interrupted`, when stop was requested.
    void throw_if_stopped() const;

    /// The hard limit of this run; none for a job without a time-out.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept;
    /// What is left until then, for time-outs of sockets and clients: zero once it has passed; none without a time-out.
    [[nodiscard]] std::optional<std::chrono::microseconds> remaining() const noexcept;

    /// The token of this run's claim, to fence outside systems with: give it along with each write, and let them refuse a
    /// token that is smaller than one they have seen.
    [[nodiscard]] ClaimToken claim_token() const noexcept;

    /// The scheduler's logger. What a handler writes there is not sanitized.
    [[nodiscard]] spdlog::logger& logger() const noexcept;

private:
    const Run& run_;
};

}  // namespace pawl
