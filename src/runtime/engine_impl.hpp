#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/loop.hpp"
#include "base/mutex.hpp"
#include "base/thread.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/claim_loop.hpp"
#include "runtime/engine.hpp"
#include "runtime/health_watch.hpp"
#include "runtime/job_flow.hpp"
#include "runtime/node_loop.hpp"
#include "runtime/owed_calls.hpp"
#include "runtime/publisher.hpp"
#include "runtime/quarantine.hpp"
#include "runtime/settle_loop.hpp"
#include "runtime/upkeep_loop.hpp"
#include "worker/executor.hpp"
#include "worker/pool.hpp"
#include "worker/watchdog.hpp"

namespace pawl::runtime {

/// How long listeners may take for the last events.
inline constexpr std::chrono::seconds flush_bound{2};

/// The parts of an engine. Built and started in engine.cpp, stopped in engine_stop.cpp, run without threads in
/// engine_drain.cpp.
struct Engine::Impl {
    explicit Impl(EngineSetup given);

    void start();
    StopReport stop(std::chrono::microseconds grace, std::chrono::microseconds hard_grace);
    std::size_t drain();
    Health health() const;

private:
    /// What stop() has come to, for those who call it meanwhile.
    enum class Stopping : unsigned char { no, under_way, done };

    worker::PoolCalls pool_calls();
    std::unique_ptr<base::Loop> loop(std::string name, base::Loop::Step step) const;
    void intern_names();
    void describe() const;
    void hold_back(int queue);
    void stop_working();
    StopReport stop_once(std::chrono::microseconds grace, std::chrono::microseconds hard_grace);
    StopReport stop_in_phases(std::chrono::microseconds grace, std::chrono::microseconds hard_grace);
    void settle_the_rest();

    const EngineSetup setup_;
    const std::shared_ptr<Kinds> kinds_ = std::make_shared<Kinds>();
    const std::shared_ptr<ClaimLedger> ledger_ = std::make_shared<ClaimLedger>();
    const std::shared_ptr<SettleQueue> queue_ = std::make_shared<SettleQueue>();
    const std::shared_ptr<Lease> lease_;
    const std::shared_ptr<Publisher> publisher_;
    const std::shared_ptr<OwedCalls> owed_;
    std::shared_ptr<worker::Watchdog> watchdog_;
    std::shared_ptr<worker::Executor> executor_;
    std::shared_ptr<JobFlow> flow_;
    std::shared_ptr<worker::Pool> pool_;
    std::shared_ptr<Quarantine> quarantine_;
    std::shared_ptr<SettleLoop> settle_;
    std::unique_ptr<ClaimLoop> claim_;
    std::unique_ptr<NodeLoop> node_;
    std::unique_ptr<UpkeepLoop> upkeep_;
    std::unique_ptr<HealthWatch> health_;
    std::unique_ptr<store::WakeupListener> listener_;

    std::unique_ptr<base::Loop> settle_loop_;
    std::unique_ptr<base::Loop> claim_loop_;
    std::unique_ptr<base::Loop> pulse_loop_;
    std::unique_ptr<base::Loop> lease_loop_;
    std::unique_ptr<base::Loop> upkeep_loop_;
    std::unique_ptr<base::Loop> listen_loop_;

    mutable base::Mutex mutex_;
    base::CondVar stopped_;
    Stopping stopping_ PAWL_GUARDED_BY(mutex_) = Stopping::no;
    bool started_ PAWL_GUARDED_BY(mutex_) = false;
    /// Handlers that still ran when stop() gave up.
    std::atomic<int> left_running_{0};
    StopReport report_ PAWL_GUARDED_BY(mutex_);

    /// Stops for a handler that asked for it. Last, so that it has ended before anything else goes.
    base::Thread stopper_;
};

}  // namespace pawl::runtime
