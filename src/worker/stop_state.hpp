#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <utility>

#include "model/claimed_job.hpp"

namespace pawl::worker {

/// Why a run is asked to stop.
enum class StopReason : unsigned char {
    none,
    hard_limit,  ///< it takes too long
    stopping,    ///< its scheduler stops
    canceled,    ///< somebody canceled the job: its claim is over
    fenced,      ///< its node lost touch with the database: its claim may be over
};

/// One run of one job, as far as others than its own thread touch it: how it is asked to stop, and who speaks for it.
///
/// **Threads**: safe from any thread.
class StopState {
public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    StopState(std::shared_ptr<const model::ClaimedJob> job, SteadyTime started) noexcept
        : job_(std::move(job)), started_(started) {}
    StopState(const StopState&) = delete;
    StopState& operator=(const StopState&) = delete;

    [[nodiscard]] const std::shared_ptr<const model::ClaimedJob>& job() const noexcept { return job_; }
    [[nodiscard]] SteadyTime started() const noexcept { return started_; }

    /// Fires the stop token; false when that changed nothing. The first reason stays, but for `canceled` and `fenced`,
    /// which outdo the other two: then the claim is over, whatever the handler does.
    ///
    /// The handler's stop callbacks run within, on the calling thread: hold no lock.
    bool request_stop(StopReason reason) noexcept;

    [[nodiscard]] StopReason reason() const noexcept { return reason_.load(std::memory_order_acquire); }
    [[nodiscard]] std::stop_token stop_token() const noexcept { return source_.get_token(); }

    /// True for exactly one caller: the one whose outcome counts. The worker's thread asks when the handler has come back;
    /// whoever gives up on a handler that does not come back asks as well.
    [[nodiscard]] bool claim_verdict() noexcept { return !verdict_claimed_.exchange(true, std::memory_order_acq_rel); }
    [[nodiscard]] bool verdict_claimed() const noexcept { return verdict_claimed_.load(std::memory_order_acquire); }

private:
    const std::shared_ptr<const model::ClaimedJob> job_;
    const SteadyTime started_;
    std::stop_source source_;
    std::atomic<StopReason> reason_{StopReason::none};
    std::atomic<bool> verdict_claimed_{false};
};

}  // namespace pawl::worker
