#include "runtime/engine.hpp"

#include <algorithm>
#include <utility>

#include <pawl/errors.hpp>

#include "failure/contain.hpp"
#include "runtime/capture_calls.hpp"
#include "runtime/engine_impl.hpp"

namespace pawl::runtime {
namespace {

using base::Loop;

/// The longest wait for a notification at once; then the connection is looked at, and the wait begins anew.
constexpr std::chrono::seconds listen_bound{30};
/// How often the health is looked at, which asks nobody.
constexpr std::chrono::seconds health_check{1};

std::shared_ptr<worker::Steps> stored_steps(std::shared_ptr<store::Store> store) {
    class StoredSteps final : public worker::Steps {
    public:
        explicit StoredSteps(std::shared_ptr<store::Store> store) : store_(std::move(store)) {}

        model::StepBegun begin(pqxx::dbtransaction* transaction, const model::Step& step) override {
            return store_->begin_step(transaction, step);
        }
        bool finish(pqxx::dbtransaction* transaction, const model::Step& step,
                    const std::optional<std::string>& result) override {
            return store_->finish_step(transaction, step, result);
        }
        void forget(const model::Step& step) override { store_->forget_step(step); }

    private:
        const std::shared_ptr<store::Store> store_;
    };
    return std::make_shared<StoredSteps>(std::move(store));
}

base::FailureCause cause_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const StoreError& error) {
        // Class 42: an object or column that is not there, and rights that are missing; 3F: no such schema.
        const std::string_view kind = std::string_view(error.sqlstate()).substr(0, 2);
        if (kind == "42" || kind == "3F") return base::FailureCause::schema;
        const bool lost = error.code() == ErrorCode::store_unavailable || error.in_doubt();
        return lost ? base::FailureCause::connection : base::FailureCause::other;
    } catch (...) {
        return base::FailureCause::other;
    }
}

std::vector<std::string> queue_names(const std::vector<QueueSetup>& queues) {
    std::vector<std::string> names;
    for (const QueueSetup& queue : queues) names.push_back(queue.name);
    return names;
}

void tell_of(failure::Breaker& breaker, std::shared_ptr<const Publisher> publisher) {
    breaker.on_change([publisher = std::move(publisher), service = breaker.service()](BreakerState state) {
        const auto tell = [&](auto event) {
            event.service = service;
            publisher->node_event(std::move(event));
        };
        switch (state) {
            case BreakerState::closed:
                return tell(BreakerClosed{});
            case BreakerState::open:
                return tell(BreakerOpened{});
            case BreakerState::half_open:
                return tell(BreakerHalfOpen{});
        }
    });
}

}  // namespace

Engine::Impl::Impl(EngineSetup given)
    : setup_(std::move(given)),
      lease_(std::make_shared<Lease>(setup_.node_expiry)),
      publisher_(std::make_shared<Publisher>(setup_.events, setup_.clock)),
      owed_(std::make_shared<OwedCalls>(queue_, publisher_, setup_.log)) {
    for (const auto& breaker : setup_.breakers) tell_of(*breaker, publisher_);
    watchdog_ = std::make_shared<worker::Watchdog>(
        worker::Watchdog::Options{.grace = setup_.timeout_grace,
                                  .on_soft_limit = [this](const auto& run) { flow_->warn(*run); },
                                  .on_overdue = [this](const auto& run) { pool_->abandon(run); }},
        setup_.log);
    executor_ =
        std::make_shared<worker::Executor>(worker::Executor::Parts{.watchdog = watchdog_,
                                                                   .failures = capture_calls(setup_.classification),
                                                                   .clock = setup_.clock,
                                                                   .logger = setup_.log->logger(),
                                                                   .max_result = setup_.max_result,
                                                                   .steps = stored_steps(setup_.store)});
    flow_ = std::make_shared<JobFlow>(JobFlow::Parts{.kinds = kinds_,
                                                     .executor = executor_,
                                                     .queue = queue_,
                                                     .store = setup_.store,
                                                     .publisher = publisher_,
                                                     .owed = owed_,
                                                     .lease = lease_,
                                                     .guards = std::make_shared<Guards>(setup_.random),
                                                     .random = setup_.random,
                                                     .clock = setup_.clock,
                                                     .default_timeout = setup_.default_timeout,
                                                     .soft_limit = setup_.soft_limit,
                                                     .max_payload = setup_.max_payload});
    worker::PoolOptions pool{.queues = {}, .calls = pool_calls(), .max_abandoned = setup_.max_abandoned_threads};
    for (const QueueSetup& queue : setup_.queues) pool.queues.push_back({queue.name, queue.concurrency});
    pool_ = std::make_shared<worker::Pool>(std::move(pool), setup_.log);
    settle_ = std::make_shared<SettleLoop>(SettleLoop::Parts{.flow = flow_,
                                                             .queue = queue_,
                                                             .ledger = ledger_,
                                                             .publisher = publisher_,
                                                             .log = setup_.log,
                                                             .on_fatal = [this] { stop_working(); },
                                                             .on_halted = [this](int queue) { hold_back(queue); }});
    quarantine_ = std::make_shared<Quarantine>(Quarantine::Parts{
        .store = setup_.store, .flow = flow_, .pool = pool_, .ledger = ledger_, .publisher = publisher_});
    node_ = std::make_unique<NodeLoop>(NodeLoop::Parts{.store = setup_.store,
                                                       .flow = flow_,
                                                       .pool = pool_,
                                                       .ledger = ledger_,
                                                       .quarantine = quarantine_,
                                                       .settle_loop = settle_,
                                                       .lease = lease_,
                                                       .publisher = publisher_,
                                                       .log = setup_.log,
                                                       .expiry = setup_.node_expiry,
                                                       .heartbeat = setup_.heartbeat,
                                                       .on_registered = [this](store::NodeId) {
                                                           if (claim_loop_) claim_loop_->poke();
                                                       }});
    upkeep_ = std::make_unique<UpkeepLoop>(
        UpkeepLoop::Parts{.store = setup_.store,
                          .flow = flow_,
                          .kinds = kinds_,
                          .ledger = ledger_,
                          .publisher = publisher_,
                          .log = setup_.log,
                          .may_expire_others = [this] { return node_->may_expire_others(); },
                          .poll_floor = setup_.poll_floor,
                          .rescue_every = setup_.node_expiry / 3,
                          .share_every = setup_.heartbeat,
                          .retention = setup_.retention,
                          .queues = queue_names(setup_.queues),
                          .listen = setup_.listen});
}

worker::PoolCalls Engine::Impl::pool_calls() {
    return {.run = [flow = flow_, owed = owed_](const auto& run) { owed->call(flow->run(run)); },
            .settle_overdue = [flow = flow_, owed = owed_](const auto& run) { owed->call(flow->give_up(run)); },
            .on_capacity =
                [this](const std::string&) {
                    if (claim_loop_ && !claim_->asleep()) claim_loop_->poke();
                },
            .on_abandoned = [publisher = publisher_](const auto& run) { publisher->abandoned(run); },
            .on_returned = [publisher = publisher_](const auto& run) { publisher->returned(run); }};
}

std::unique_ptr<Loop> Engine::Impl::loop(std::string name, Loop::Step step) const {
    return std::make_unique<Loop>(
        base::LoopOptions{.name = std::move(name),
                          .first_failure_wait = setup_.reconnect_first,
                          .failure_wait_cap = setup_.reconnect_longest,
                          .on_failure =
                              [](const std::exception_ptr& thrown) {
                                  return base::FailedStep{failure::described(thrown), cause_of(thrown)};
                              }},
        std::move(step), *setup_.log, *setup_.random);
}

void Engine::Impl::intern_names() {
    std::vector<std::string> names;
    for (const KindSetup& kind : setup_.kinds) names.push_back(kind.name);
    const std::vector<int> kind_ids = setup_.store->intern_kinds(names);
    for (std::size_t i = 0; i < names.size(); ++i) kinds_->add(setup_.kinds[i], kind_ids[i]);

    names = queue_names(setup_.queues);
    const std::vector<int> queue_ids = setup_.store->intern_queues(names);
    std::vector<ClaimLoop::Queue> queues;
    for (std::size_t i = 0; i < names.size(); ++i)
        queues.push_back({names[i], queue_ids[i], setup_.queues[i].concurrency});
    claim_ = std::make_unique<ClaimLoop>(ClaimLoop::Parts{.queues = std::move(queues),
                                                          .kinds = kinds_->ids(),
                                                          .store = setup_.store,
                                                          .flow = flow_,
                                                          .pool = pool_,
                                                          .ledger = ledger_,
                                                          .quarantine = quarantine_,
                                                          .lease = lease_,
                                                          .publisher = publisher_,
                                                          .random = setup_.random,
                                                          .claim_limit = setup_.claim_limit,
                                                          .prefetch_target = setup_.prefetch_target,
                                                          .poll_floor = setup_.poll_floor});
}

void Engine::Impl::describe() const {
    std::vector<store::QueueFacts> queues;
    for (const QueueSetup& queue : setup_.queues) queues.push_back({queue.name, queue.runbook, queue.halts});
    std::vector<store::KindFacts> kinds;
    for (const KindSetup& kind : setup_.kinds) kinds.push_back({kind.name, kind.runbook});
    setup_.store->describe(queues, kinds);
}

void Engine::Impl::hold_back(int queue) {
    upkeep_->look_at_queues();
    if (upkeep_loop_) upkeep_loop_->poke();
    // What has not begun of a paused queue goes back; its claims find nothing until it is resumed.
    flow_->release(pool_->take_back_unstarted(claim_->name_of(queue), {}), "its queue is paused");
}

void Engine::Impl::start() {
    intern_names();
    describe();
    settle_loop_ = loop("pawl settle", [this](const std::stop_token& stop) { return settle_->step(stop); });
    claim_loop_ = loop("pawl claim", [this](const std::stop_token& stop) { return claim_->step(stop); });
    pulse_loop_ = loop("pawl pulse", [this](const std::stop_token& stop) { return node_->pulse(stop); });
    health_ = std::make_unique<HealthWatch>([this] { return health(); }, publisher_);
    lease_loop_ = loop("pawl lease", [this](const std::stop_token& stop) {
        const Loop::Wait wait = node_->guard_lease(stop);
        health_->step();
        return std::min<Loop::Wait>(wait, health_check);
    });
    upkeep_loop_ = loop("pawl upkeep", [this](const std::stop_token& stop) { return upkeep_->step(stop); });
    queue_->on_work([this] { settle_loop_->poke(); });
    if (setup_.listen) {
        listener_ = setup_.store->listen();
        listen_loop_ = loop("pawl listen", [this](const std::stop_token&) {
            const store::Wakeup wakeup = listener_->wait(listen_bound);
            if (wakeup.reconnected) {
                claim_->announce_anew();
                upkeep_->announce_anew();
            }
            if (wakeup.reconnected || !wakeup.queues.empty()) {
                claim_->expect_more();
                claim_loop_->poke();
            }
            if (wakeup.scheduled) upkeep_loop_->poke();
            for (const int queue : wakeup.paused) hold_back(queue);
            for (const auto& [node, run] : wakeup.canceled) {
                if (node == publisher_->node()) node_->drop_canceled(run);
            }
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

Engine::Engine(EngineSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {}

Engine::~Engine() { impl_->stop(std::chrono::microseconds::zero(), std::chrono::microseconds::zero()); }

void Engine::start() { impl_->start(); }

StopReport Engine::stop(std::chrono::microseconds grace, std::chrono::microseconds hard_grace) {
    return impl_->stop(grace, hard_grace);
}

Health Engine::health() const { return impl_->health(); }

std::size_t Engine::drain() { return impl_->drain(); }

}  // namespace pawl::runtime
