#include <stop_token>
#include <utility>
#include <vector>

#include "runtime/engine_impl.hpp"

namespace pawl::runtime {

using base::Loop;

std::size_t Engine::Impl::drain() {
    intern_names();
    describe();
    setup_.events->start();
    node_->register_node();
    watchdog_->start();
    std::size_t runs = 0;
    const std::stop_token never;
    const auto settle_all = [&] {
        while (settle_->step(never) != Loop::until_poked) {
        }
    };
    for (bool found = true; found;) {
        found = false;
        while (setup_.store->promote(1000).moved > 0) {
        }
        for (const QueueSetup& queue : setup_.queues) {
            const int id = setup_.store->intern_queues(std::vector{queue.name}).front();
            // Whatever a handler enqueued or put back meanwhile, wherever it stands.
            claim_->forget_marks();
            const store::Claimed claimed = claim_->claim({{id, setup_.claim_limit}});
            std::vector<Owed> owed;
            for (const worker::Job& job : claimed.jobs) {
                owed.push_back(flow_->run(std::make_shared<worker::StopState>(job, std::chrono::steady_clock::now())));
                ++runs;
            }
            settle_all();
            for (Owed& one : owed) owed_->call(std::move(one));
            found = found || !claimed.jobs.empty();
        }
        // Nothing else is claimed by now, so that it is alone.
        if (const worker::Job suspect = found ? nullptr : quarantine_->claim(claim_->queue_ids(), kinds_->ids())) {
            Owed owed = flow_->run(std::make_shared<worker::StopState>(suspect, std::chrono::steady_clock::now()));
            ++runs;
            settle_all();
            owed_->call(std::move(owed));
            found = true;
        }
        node_->pulse(never);
    }
    watchdog_->stop();
    setup_.store->say_goodbye(publisher_->node());
    (void)setup_.events->wait_delivered(flush_bound);
    return runs;
}

}  // namespace pawl::runtime
