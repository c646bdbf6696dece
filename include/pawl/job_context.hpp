#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/detail/step.hpp>
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
    using Run = JobRun;

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

    /// What to add to a libpq connection string (key=value form) for the job's own SQL, so that no statement outlives the
    /// hard limit: `options='-c statement_timeout=29950'`, in milliseconds, what is left but at least 1. Empty without a
    /// time-out. Time-outs of connecting and reading are the caller's: see `remaining()`.
    ///
    ///     pqxx::connection orders("dbname=orders " + context.connection_options());
    [[nodiscard]] std::string connection_options() const;

    /// The token of this run's claim, to fence outside systems with: give it along with each write, and let them refuse a
    /// token that is smaller than one they have seen.
    [[nodiscard]] ClaimToken claim_token() const noexcept;

    /// Runs a function at most once for this job, however often the job runs, and returns what it returned: the result is
    /// kept with the job, and later runs get it from there. A function that throws has not been done: it is run again by
    /// the next run. Returns nothing or what has a codec that encodes and decodes.
    ///
    ///     auto receipt = context.once("charge", [&] { return gateway.charge(job.order_id); });
    ///
    /// That it begins is written before, and its result after it. A run that ends between the two leaves the step in doubt.
    /// Names have 1 to 200 bytes. A redriven job keeps its steps, and a purged one loses them.
    ///
    /// **Throws** what the function throws; `StepInDoubt`; `Interrupted` when the claim is over; `StoreError`;
    /// `ConfigError` for a name that cannot be stored.
    template <class F>
    detail::StepValue<F> once(std::string_view step, F&& function) {
        return once(step, std::forward<F>(function),
                    [](const StepInDoubt& doubt) -> detail::StepAnswer<F> { throw doubt; });
    }

    /// The same, and asks `recover(const StepInDoubt&)` about a step in doubt: it returns a `std::optional` of the result,
    /// or for a function without one a bool. None, or false, says that it was not done: then it is run.
    template <class F, class Recover>
    detail::StepValue<F> once(std::string_view step, F&& function, Recover&& recover) {
        detail::OpenStep open(run_, step, nullptr);
        if (const StepInDoubt* doubt = open.doubt()) {
            if (detail::StepAnswer<F> answer = recover(*doubt)) return open.template recovered<F>(answer);
            open.begin_anew();
        }
        return open.template run<F>(function);
    }

    /// The same in the caller's transaction: what the function writes there and that it was done are committed together, so
    /// it is done exactly once. Whatever it throws, the transaction should be rolled back; the step is undone with it. Until it ends,
    /// nobody can take the job over.
    template <class F>
    detail::StepValue<F> once(pqxx::dbtransaction& transaction, std::string_view step, F&& function) {
        detail::OpenStep open(run_, step, &transaction);
        if (const StepInDoubt* doubt = open.doubt()) throw *doubt;
        return open.template run<F>(function);
    }
    template <class F>
    detail::StepValue<F> once(pqxx::transaction_base& transaction, std::string_view step, F&& function) = delete;

    /// The scheduler's logger. What a handler writes there is not sanitized.
    [[nodiscard]] spdlog::logger& logger() const noexcept;

private:
    const Run& run_;
};

}  // namespace pawl
