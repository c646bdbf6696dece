#include "runtime/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/loop.hpp"
#include "failure/capture.hpp"
#include "failure/contain.hpp"
#include "runtime/claim_ledger.hpp"
#include "runtime/claim_loop.hpp"
#include "runtime/job_flow.hpp"
#include "runtime/node_loop.hpp"
#include "runtime/publisher.hpp"
#include "runtime/settle_loop.hpp"
#include "runtime/upkeep_loop.hpp"
#include "worker/executor.hpp"
#include "worker/pool.hpp"
#include "worker/watchdog.hpp"

namespace pawl::runtime {
namespace {

using base::Loop;
using SteadyTime = std::chrono::steady_clock::time_point;

/// How long the last outcomes may take to be written, and the events to be delivered, once everything else has stopped.
constexpr std::chrono::seconds last_settle_bound{5};
constexpr std::chrono::seconds flush_bound{2};
/// The longest time without a look whether a listening connection is still wanted.
constexpr std::chrono::seconds listen_bound{30};

}  // namespace

struct Engine::Impl {
    explicit Impl(EngineSetup given);

    void start();
    StopReport stop(std::chrono::microseconds grace, std::chrono::microseconds hard_grace);
    std::size_t drain();

private:
    /// What stop() has come to, for those who call it meanwhile.
    enum class Stopping : unsigned char { no, under_way, done };

    worker::CaptureCalls capture_calls() const;
    worker::PoolCalls pool_calls();
    std::unique_ptr<Loop> loop(std::string name, Loop::Step step) const;
    void intern_names();
    void stop_working();
    StopReport stop_in_phases(std::chrono::microseconds grace, std::chrono::microseconds hard_grace);
    void settle_the_rest();

    const EngineSetup setup_;
    const std::shared_ptr<Kinds> kinds_ = std::make_shared<Kinds>();
    const std::shared_ptr<ClaimLedger> ledger_ = std::make_shared<ClaimLedger>();
    const std::shared_ptr<SettleQueue> queue_ = std::make_shared<SettleQueue>();
    const std::shared_ptr<Lease> lease_;
    const std::shared_ptr<Publisher> publisher_;
    std::shared_ptr<worker::Watchdog> watchdog_;
    std::shared_ptr<worker::Executor> executor_;
    std::shared_ptr<JobFlow> flow_;
    std::shared_ptr<worker::Pool> pool_;
    std::shared_ptr<SettleLoop> settle_;
    std::unique_ptr<ClaimLoop> claim_;
    std::unique_ptr<NodeLoop> node_;
    std::unique_ptr<UpkeepLoop> upkeep_;
    std::unique_ptr<store::WakeupListener> listener_;

    std::unique_ptr<Loop> settle_loop_;
    std::unique_ptr<Loop> claim_loop_;
    std::unique_ptr<Loop> pulse_loop_;
    std::unique_ptr<Loop> lease_loop_;
    std::unique_ptr<Loop> upkeep_loop_;
    std::unique_ptr<Loop> listen_loop_;

    base::Mutex mutex_;
    base::CondVar stopped_;
    Stopping stopping_ PAWL_GUARDED_BY(mutex_) = Stopping::no;
    bool started_ PAWL_GUARDED_BY(mutex_) = false;
    StopReport report_ PAWL_GUARDED_BY(mutex_);
};

Engine::Impl::Impl(EngineSetup given)
    : setup_(std::move(given)),
      lease_(std::make_shared<Lease>(setup_.node_expiry)),
      publisher_(std::make_shared<Publisher>(setup_.events, setup_.clock)) {
    watchdog_ = std::make_shared<worker::Watchdog>(
        worker::Watchdog::Options{.grace = setup_.timeout_grace,
                                  .on_soft_limit = [this](const auto& run) { flow_->warn(*run); },
                                  .on_overdue = [this](const auto& run) { pool_->abandon(run); }},
        setup_.log);
    executor_ = std::make_shared<worker::Executor>(worker::Executor::Parts{.watchdog = watchdog_,
                                                                           .failures = capture_calls(),
                                                                           .clock = setup_.clock,
                                                                           .logger = setup_.log->logger(),
                                                                           .max_result = setup_.max_result});
    flow_ = std::make_shared<JobFlow>(JobFlow::Parts{.kinds = kinds_,
                                                     .executor = executor_,
                                                     .queue = queue_,
                                                     .store = setup_.store,
                                                     .publisher = publisher_,
                                                     .lease = lease_,
                                                     .random = setup_.random,
                                                     .clock = setup_.clock,
                                                     .default_timeout = setup_.default_timeout,
                                                     .soft_limit = setup_.soft_limit});
    worker::PoolOptions pool{.queues = {}, .calls = pool_calls(), .max_abandoned = setup_.max_abandoned_threads};
    for (const QueueSetup& queue : setup_.queues) pool.queues.push_back({queue.name, queue.concurrency});
    pool_ = std::make_shared<worker::Pool>(std::move(pool), setup_.log);
    settle_ = std::make_shared<SettleLoop>(SettleLoop::Parts{.flow = flow_,
                                                             .queue = queue_,
                                                             .ledger = ledger_,
                                                             .publisher = publisher_,
                                                             .log = setup_.log,
                                                             .on_fatal = [this] { stop_working(); }});
    node_ = std::make_unique<NodeLoop>(NodeLoop::Parts{.store = setup_.store,
                                                       .flow = flow_,
                                                       .pool = pool_,
                                                       .ledger = ledger_,
                                                       .settle_loop = settle_,
                                                       .lease = lease_,
                                                       .publisher = publisher_,
                                                       .log = setup_.log,
                                                       .expiry = setup_.node_expiry,
                                                       .heartbeat = setup_.heartbeat,
                                                       .on_registered = [this](store::NodeId) {
                                                           if (claim_loop_) claim_loop_->poke();
                                                       }});
    upkeep_ = std::make_unique<UpkeepLoop>(UpkeepLoop::Parts{.store = setup_.store,
                                                             .flow = flow_,
                                                             .ledger = ledger_,
                                                             .publisher = publisher_,
                                                             .log = setup_.log,
                                                             .may_expire_others = [this] { return node_->may_expire_others(); },
                                                             .poll_floor = setup_.poll_floor,
                                                             .rescue_every = setup_.node_expiry / 3,
                                                             .retention = setup_.retention,
                                                             .listen = setup_.listen});
}

worker::CaptureCalls Engine::Impl::capture_calls() const {
    // Owned by the executor, which may outlive this: they share what they touch.
    return {.capture =
                [kinds = kinds_](std::exception_ptr thrown, std::shared_ptr<const model::ClaimedJob> job,
                                 std::optional<Time> started_at, Time failed_at) {
                    static const Classification built_in;
                    const Kinds::Kind* kind = kinds->find(job->kind);
                    const bool known = kind != nullptr && kind->setup.policy.classification != nullptr;
                    return failure::capture(std::move(thrown), std::move(job), {started_at, failed_at},
                                            known ? *kind->setup.policy.classification : built_in);
                },
            .timed_out = failure::timed_out,
            .thread_exited = failure::thread_exited};
}

worker::PoolCalls Engine::Impl::pool_calls() {
    return {.run = [flow = flow_](const auto& run) { flow->run(run); },
            .settle_overdue = [flow = flow_](const auto& run) { flow->give_up(run); },
            .on_capacity = [this](const std::string&) { if (claim_loop_ && !claim_->asleep()) claim_loop_->poke(); },
            .on_abandoned = [publisher = publisher_](const auto& run) { publisher->abandoned(run); },
            .on_returned = [publisher = publisher_](const auto& run) { publisher->returned(run); }};
}

std::unique_ptr<Loop> Engine::Impl::loop(std::string name, Loop::Step step) const {
    return std::make_unique<Loop>(
        base::LoopOptions{.name = std::move(name),
                          .first_failure_wait = setup_.reconnect_first,
                          .failure_wait_cap = setup_.reconnect_longest,
                          .on_failure = [](const std::exception_ptr& thrown) { return failure::described(thrown); }},
        std::move(step), *setup_.log, *setup_.random);
}

void Engine::Impl::intern_names() {
    std::vector<std::string> names;
    for (const KindSetup& kind : setup_.kinds) names.push_back(kind.name);
    const std::vector<int> kind_ids = setup_.store->intern_kinds(names);
    for (std::size_t i = 0; i < names.size(); ++i) kinds_->add(setup_.kinds[i], kind_ids[i]);

    names.clear();
    for (const QueueSetup& queue : setup_.queues) names.push_back(queue.name);
    const std::vector<int> queue_ids = setup_.store->intern_queues(names);
    std::vector<ClaimLoop::Queue> queues;
    for (std::size_t i = 0; i < names.size(); ++i) queues.push_back({names[i], queue_ids[i], setup_.queues[i].concurrency});
    claim_ = std::make_unique<ClaimLoop>(ClaimLoop::Parts{.queues = std::move(queues),
                                                          .kinds = kinds_->ids(),
                                                          .store = setup_.store,
                                                          .flow = flow_,
                                                          .pool = pool_,
                                                          .ledger = ledger_,
                                                          .lease = lease_,
                                                          .publisher = publisher_,
                                                          .random = setup_.random,
                                                          .claim_limit = setup_.claim_limit,
                                                          .prefetch_target = setup_.prefetch_target,
                                                          .poll_floor = setup_.poll_floor});
}

void Engine::Impl::start() {
    intern_names();
    settle_loop_ = loop("pawl settle", [this](const std::stop_token& stop) { return settle_->step(stop); });
    claim_loop_ = loop("pawl claim", [this](const std::stop_token& stop) { return claim_->step(stop); });
    pulse_loop_ = loop("pawl pulse", [this](const std::stop_token& stop) { return node_->pulse(stop); });
    lease_loop_ = loop("pawl lease", [this](const std::stop_token& stop) { return node_->guard_lease(stop); });
    upkeep_loop_ = loop("pawl upkeep", [this](const std::stop_token& stop) { return upkeep_->step(stop); });
    queue_->on_work([this] { settle_loop_->poke(); });
    if (setup_.listen) {
        listener_ = setup_.store->listen();
        listen_loop_ = loop("pawl listen", [this](const std::stop_token&) {
            const store::Wakeup wakeup = listener_->wait(listen_bound);
            if (wakeup.reconnected || !wakeup.queues.empty()) {
                claim_->expect_more();
                claim_loop_->poke();
            }
            if (wakeup.scheduled) upkeep_loop_->poke();
            return Loop::Wait::zero();
        });
    }

    setup_.events->start();
    node_->register_node();
    {
        const base::MutexLock lock(mutex_);
        started_ = true;
    }
    // From the end of a job's life to its beginning, so that nobody hands to one who is not there yet.
    settle_loop_->start();
    watchdog_->start();
    pool_->start();
    pulse_loop_->start();
    lease_loop_->start();
    upkeep_loop_->start();
    claim_loop_->start();
    if (listen_loop_) listen_loop_->start();
}

void Engine::Impl::stop_working() {
    claim_->close();
    flow_->release(pool_->close(), "a fatal error stopped the workers");
    setup_.log->error("a handler threw a fatal type: this scheduler takes no more jobs");
}

StopReport Engine::Impl::stop(std::chrono::microseconds grace, std::chrono::microseconds hard_grace) {
    const bool inside = pool_->runs_on_this_thread();
    {
        const base::MutexLock lock(mutex_);
        if (!started_) return {};
        if (stopping_ != Stopping::no) {
            // A handler must not wait for a stop that waits for the handler.
            while (stopping_ == Stopping::under_way && !inside) stopped_.wait(mutex_);
            return report_;
        }
        stopping_ = Stopping::under_way;
    }
    StopReport report = stop_in_phases(grace, hard_grace);
    const base::MutexLock lock(mutex_);
    report_ = report;
    stopping_ = Stopping::done;
    stopped_.notify_all();
    return report;
}

StopReport Engine::Impl::stop_in_phases(std::chrono::microseconds grace, std::chrono::microseconds hard_grace) {
    const SteadyTime begun = std::chrono::steady_clock::now();
    settle_->begin_report();
    if (listen_loop_) {
        listen_loop_->request_stop();
        listener_->interrupt();
        listen_loop_->stop();
    }
    claim_->close();
    claim_loop_->stop();
    flow_->release(pool_->close(), "it had not begun when its node stopped");

    if (!pool_->wait_idle(begun + grace)) {
        pool_->request_stop(worker::StopReason::stopping);
        (void)pool_->wait_idle(begun + grace + hard_grace);
    }
    StopReport report;
    for (const worker::RunningJob& running : pool_->running()) {
        // Whoever speaks first for the run: we give it back now, or its handler comes back this very moment.
        if (running.run->claim_verdict()) flow_->release({running.run->job()}, "it still ran after the hard grace");
    }
    upkeep_loop_->stop();
    queue_->open_wide();
    for (const worker::RunningJob& running : pool_->finish(std::chrono::steady_clock::now())) {
        report.still_running.push_back(running.run->job()->slot.id);
    }
    settle_the_rest();
    settle_loop_->stop();
    report.jobs = settle_->report();
    watchdog_->stop();
    lease_loop_->stop();
    pulse_loop_->stop();
    try {
        setup_.store->say_goodbye(publisher_->node());
    } catch (const std::exception& error) {
        setup_.log->warn("the goodbye could not be said ({}): what is left will be taken over after the expiry", error.what());
    }
    publisher_->node_event(NodeStopped{});
    setup_.log->info("node {} has stopped: {} jobs settled or given back, {} handlers still run", publisher_->node(),
                     report.jobs.size(), report.still_running.size());
    setup_.events->stop(flush_bound);
    return report;
}

void Engine::Impl::settle_the_rest() {
    const SteadyTime until = std::chrono::steady_clock::now() + last_settle_bound;
    while (!settle_->idle()) {
        const auto left = until - std::chrono::steady_clock::now();
        if (left <= SteadyTime::duration::zero() || !settle_loop_->run_step(left)) return;
        if (settle_loop_->failures() > 1) return;
    }
}

std::size_t Engine::Impl::drain() {
    intern_names();
    setup_.events->start();
    node_->register_node();
    watchdog_->start();
    std::size_t runs = 0;
    const std::stop_token never;
    const auto settle_all = [&] {
        while (settle_->step(never) != Loop::until_poked) {}
    };
    for (bool found = true; found;) {
        found = false;
        while (setup_.store->promote(1000).moved > 0) {}
        for (const QueueSetup& queue : setup_.queues) {
            const int id = setup_.store->intern_queues(std::vector{queue.name}).front();
            // Whatever a handler enqueued or put back meanwhile, wherever it stands.
            claim_->forget_marks();
            const store::Claimed claimed = claim_->claim({{id, setup_.claim_limit}});
            for (const worker::Job& job : claimed.jobs) {
                flow_->run(std::make_shared<worker::StopState>(job, std::chrono::steady_clock::now()));
                ++runs;
            }
            settle_all();
            found = found || !claimed.jobs.empty();
        }
        node_->pulse(never);
    }
    watchdog_->stop();
    setup_.store->say_goodbye(publisher_->node());
    (void)setup_.events->wait_delivered(flush_bound);
    return runs;
}

Engine::Engine(EngineSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {}

Engine::~Engine() {
    impl_->stop(std::chrono::microseconds::zero(), std::chrono::microseconds::zero());
}

void Engine::start() {
    impl_->start();
}

StopReport Engine::stop(std::chrono::microseconds grace, std::chrono::microseconds hard_grace) {
    return impl_->stop(grace, hard_grace);
}

std::size_t Engine::drain() {
    return impl_->drain();
}

}  // namespace pawl::runtime
