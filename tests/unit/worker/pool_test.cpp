#include "worker/pool.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <pthread.h>

#include <gtest/gtest.h>

#include "support/captured_log.hpp"
#include "support/signal.hpp"
#include "unit/worker/claimed_job.hpp"

namespace {

using namespace std::chrono_literals;
using pawl::tests::CapturedLog;
using pawl::tests::claimed_job;
using pawl::tests::Signal;
using pawl::worker::Job;
using pawl::worker::Pool;
using pawl::worker::PoolCalls;
using pawl::worker::StopReason;
using pawl::worker::StopState;
using Attempt = std::shared_ptr<StopState>;

std::chrono::steady_clock::time_point in(std::chrono::nanoseconds time) {
    return std::chrono::steady_clock::now() + time;
}

std::vector<Job> jobs(pawl::JobId first, int count) {
    std::vector<Job> all;
    for (int i = 0; i < count; ++i) all.push_back(claimed_job(first + i));
    return all;
}

class PoolTest : public testing::Test {
protected:
    Pool& make(int width, PoolCalls calls, int max_abandoned = 4) {
        pool.emplace(pawl::worker::PoolOptions{.queues = {{"default", width}, {"other", 1}},
                                               .calls = std::move(calls),
                                               .max_abandoned = max_abandoned},
                     captured.log());
        return *pool;
    }

    CapturedLog captured;
    // What an abandoned handler of a test touches; the pool goes first.
    Signal entered, go, left, settled, returned;
    std::optional<Pool> pool;
};

TEST_F(PoolTest, runs_what_is_pushed_once_and_in_order) {
    std::vector<pawl::JobId> ran;
    make(1, {.run = [&](const Attempt& run) { ran.push_back(run->job()->slot.id); }});
    ASSERT_TRUE(pool->push("default", jobs(1, 100)));
    pool->start();
    ASSERT_TRUE(pool->wait_idle(in(10s)));
    ASSERT_EQ(ran.size(), 100u);
    EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

TEST_F(PoolTest, runs_as_many_at_once_as_the_queue_is_wide) {
    make(3, {.run = [&](const Attempt&) {
             entered.raise();
             EXPECT_TRUE(go.wait());
         }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(1, 5)));
    ASSERT_TRUE(entered.wait(3));
    const auto load = *pool->load("default");
    EXPECT_EQ(load.width, 3);
    EXPECT_EQ(load.running, 3);
    EXPECT_EQ(load.unstarted, 2);
    EXPECT_EQ(load.free_slots(), 0);
    EXPECT_EQ(pool->running().size(), 3u);
    EXPECT_EQ(pool->load("other")->free_slots(), 1);
    EXPECT_FALSE(pool->load("unknown"));
    go.raise();
    EXPECT_TRUE(pool->wait_idle(in(10s)));
    EXPECT_TRUE(pool->load("default")->mean_run);
}

TEST_F(PoolTest, refuses_an_unknown_queue_and_a_push_after_closing) {
    make(1, {.run = [](const Attempt&) {}});
    EXPECT_FALSE(pool->push("unknown", jobs(1, 1)));
    static_cast<void>(pool->close());
    EXPECT_FALSE(pool->push("default", jobs(1, 1)));
}

TEST_F(PoolTest, either_runs_a_job_or_gives_it_back) {
    constexpr int count = 20'000;
    std::mutex mutex;
    std::multiset<pawl::JobId> seen;
    const auto see = [&](pawl::JobId id) {
        const std::lock_guard lock{mutex};
        seen.insert(id);
    };
    make(2, {.run = [&](const Attempt& run) { see(run->job()->slot.id); }});
    pool->start();
    std::atomic<bool> pushed{false};
    std::thread taker([&] {
        while (!pushed) {
            for (const auto& job : pool->take_back_unstarted()) see(job->slot.id);
        }
    });
    for (int i = 0; i < count; i += 10) ASSERT_TRUE(pool->push("default", jobs(i, 10)));
    pushed = true;
    taker.join();
    for (const auto& job : pool->close()) see(job->slot.id);
    ASSERT_TRUE(pool->wait_idle(in(10s)));
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(std::set<pawl::JobId>(seen.begin(), seen.end()).size(), seen.size());
}

TEST_F(PoolTest, gives_back_what_is_old_enough_and_by_id) {
    make(1, {.run = [](const Attempt&) {}});
    ASSERT_TRUE(pool->push("default", jobs(1, 3)));
    EXPECT_TRUE(pool->take_back_unstarted("default", 1h).empty());
    EXPECT_EQ(pool->take_back_unstarted(900, 2)->slot.id, 2);
    EXPECT_EQ(pool->take_back_unstarted(900, 2), nullptr);
    EXPECT_EQ(pool->take_back_unstarted("default", 0ns).size(), 2u);
}

TEST_F(PoolTest, tells_capacity_once_until_the_next_push) {
    Signal told;
    make(1, {.run = [](const Attempt&) {},
             .on_capacity =
                 [&](const std::string& queue) {
                     if (queue == "default") told.raise();
                 }});
    pool->start();
    ASSERT_TRUE(told.wait(1));
    ASSERT_TRUE(pool->push("default", jobs(1, 10)));
    ASSERT_TRUE(told.wait(2));
    static_cast<void>(pool->finish(in(10s)));
    EXPECT_EQ(told.raised(), 2);
}

TEST_F(PoolTest, tells_capacity_when_half_of_the_prefetch_is_gone) {
    std::vector<int> unstarted;
    std::atomic<bool> count{false};
    make(1, {.run =
                 [&](const Attempt&) {
                     entered.raise();
                     EXPECT_TRUE(go.wait());
                 },
             .on_capacity =
                 [&](const std::string& queue) {
                     if (queue == "default" && count) unstarted.push_back(pool->load("default")->unstarted);
                 }});
    pool->set_prefetch("default", 8);
    ASSERT_TRUE(pool->push("default", jobs(1, 9)));
    count = true;
    pool->start();
    go.raise();
    ASSERT_TRUE(pool->wait_idle(in(10s)));
    static_cast<void>(pool->finish(in(10s)));
    EXPECT_EQ(unstarted, (std::vector<int>{4}));
}

// What a claimer found too full to claim for, under a smaller prefetch, empties without another push.
TEST_F(PoolTest, tells_capacity_once_more_to_a_claimer_that_asked_anew) {
    std::vector<int> unstarted;
    make(1, {.run =
                 [&](const Attempt&) {
                     entered.raise();
                     EXPECT_TRUE(go.wait());
                 },
             .on_capacity =
                 [&](const std::string& queue) {
                     if (queue != "default") return;
                     unstarted.push_back(pool->load("default")->unstarted);
                     if (unstarted.size() > 1) return;
                     pool->tell_capacity_anew("default");
                     pool->set_prefetch("default", 4);
                 }});
    pool->set_prefetch("default", 8);
    ASSERT_TRUE(pool->push("default", jobs(1, 9)));
    pool->start();
    go.raise();
    ASSERT_TRUE(pool->wait_idle(in(10s)));
    static_cast<void>(pool->finish(in(10s)));
    EXPECT_EQ(unstarted, (std::vector<int>{4, 2}));
}

TEST_F(PoolTest, survives_a_run_that_throws) {  // B190, B192
    make(1, {.run = [](const Attempt&) { throw 42; }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(1, 2)));
    EXPECT_TRUE(pool->wait_idle(in(10s)));
    static_cast<void>(pool->finish(in(10s)));
    EXPECT_NE(captured.text().find("error a run of queue default threw"), std::string::npos);
}

TEST_F(PoolTest, replaces_a_thread_that_a_handler_ended) {
    make(1, {.run = [&](const Attempt& run) {
             entered.raise();
             if (run->job()->slot.id == 1) pthread_exit(nullptr);
         }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(1, 2)));
    ASSERT_TRUE(entered.wait(2));
    ASSERT_TRUE(pool->wait_idle(in(10s)));
    EXPECT_EQ(pool->load("default")->width, 1);
    EXPECT_TRUE(pool->finish(in(10s)).empty());
}

TEST_F(PoolTest, stops_in_phases) {
    make(1, {.run = [&](const Attempt& run) {
             entered.raise();
             const std::stop_callback on_stop{run->stop_token(), [&] { go.raise(); }};
             EXPECT_TRUE(go.wait());
             EXPECT_EQ(run->reason(), StopReason::stopping);
         }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(1, 3)));
    ASSERT_TRUE(entered.wait());
    EXPECT_EQ(pool->close().size(), 2u);
    EXPECT_FALSE(pool->wait_idle(in(1ms)));
    EXPECT_EQ(pool->request_stop(StopReason::stopping), 1);
    EXPECT_TRUE(pool->wait_idle(in(10s)));
    EXPECT_TRUE(pool->finish(in(10s)).empty());
    EXPECT_TRUE(pool->finish(in(10s)).empty());
    EXPECT_EQ(entered.raised(), 1);
}

TEST_F(PoolTest, names_what_still_runs_and_leaves_its_thread) {  // B062
    struct Shared {
        Signal entered, go, left;
    };
    const auto shared = std::make_shared<Shared>();
    make(1, {.run = [shared](const Attempt&) {
             shared->entered.raise();
             EXPECT_TRUE(shared->go.wait());
             shared->left.raise();
         }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(7, 1)));
    ASSERT_TRUE(shared->entered.wait());
    const auto still = pool->finish(in(1ms));
    ASSERT_EQ(still.size(), 1u);
    EXPECT_EQ(still[0].run->job()->slot.id, 7);
    pool.reset();
    shared->go.raise();
    EXPECT_TRUE(shared->left.wait());
}

TEST_F(PoolTest, can_be_stopped_by_a_run_without_waiting_for_it) {
    std::vector<pawl::worker::RunningJob> still;
    // Owned by the run: its thread is left to it, for it cannot be joined by itself.
    const auto done = std::make_shared<Signal>();
    make(1, {.run = [&, done](const Attempt&) {
             static_cast<void>(pool->close());
             EXPECT_TRUE(pool->wait_idle(in(10s)));
             still = pool->finish(in(10s));
             done->raise();
         }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(1, 3)));
    ASSERT_TRUE(done->wait());
    EXPECT_EQ(still.size(), 1u);
}

TEST_F(PoolTest, settles_an_abandoned_run_from_another_thread_and_keeps_its_width) {  // B152
    make(1, {.run =
                 [&](const Attempt& run) {
                     if (run->job()->slot.id == 1) {
                         entered.raise();
                         EXPECT_TRUE(go.wait());
                         EXPECT_FALSE(run->claim_verdict());
                     } else {
                         left.raise();
                     }
                 },
             .settle_overdue =
                 [&](const Attempt& run) {
                     EXPECT_EQ(run->job()->slot.id, 1);
                     settled.raise();
                 },
             .on_returned = [&](const StopState&) { returned.raise(); }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(1, 1)));
    ASSERT_TRUE(entered.wait());
    const auto run = pool->running().at(0).run;
    pool->abandon(run);
    pool->abandon(run);
    ASSERT_TRUE(settled.wait());
    EXPECT_EQ(pool->load("default")->width, 1);
    EXPECT_EQ(pool->load("default")->abandoned, 1);

    // Its retry waits for the end of the first run, others do not.
    ASSERT_TRUE(pool->push("default", jobs(1, 2)));
    ASSERT_TRUE(left.wait());
    EXPECT_EQ(pool->load("default")->unstarted, 1);
    EXPECT_EQ(entered.raised(), 1);
    EXPECT_NE(pool->take_back_unstarted(900, 1), nullptr);

    go.raise();
    ASSERT_TRUE(returned.wait());
    EXPECT_EQ(pool->load("default")->abandoned, 0);
    EXPECT_TRUE(pool->finish(in(10s)).empty());
    EXPECT_EQ(settled.raised(), 1);
}

TEST_F(PoolTest, loses_width_above_the_cap_and_gets_it_back) {
    make(2,
         {.run =
              [&](const Attempt& run) {
                  entered.raise();
                  EXPECT_TRUE(go.wait());
                  // These two are there at the same time, or wait in vain.
                  if (run->job()->slot.id >= 3) {
                      EXPECT_TRUE(entered.wait(4));
                  }
              },
          .settle_overdue = [&](const Attempt&) { settled.raise(); },
          .on_returned = [&](const StopState&) { returned.raise(); }},
         1);
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(1, 2)));
    ASSERT_TRUE(entered.wait(2));
    for (const auto& job : pool->running()) {
        ASSERT_TRUE(job.run->request_stop(StopReason::hard_limit));
        pool->abandon(job.run);
    }
    ASSERT_TRUE(settled.wait(2));
    EXPECT_EQ(pool->load("default")->width, 1);
    go.raise();
    ASSERT_TRUE(returned.wait(2));
    ASSERT_TRUE(pool->push("default", jobs(3, 2)));
    ASSERT_TRUE(entered.wait(4));
    EXPECT_TRUE(pool->finish(in(10s)).empty());
}

TEST_F(PoolTest, asks_a_run_to_stop_by_its_job) {
    make(1, {.run = [&](const Attempt& run) {
             entered.raise();
             const std::stop_callback on_stop{run->stop_token(), [&] { go.raise(); }};
             EXPECT_TRUE(go.wait());
         }});
    pool->start();
    ASSERT_TRUE(pool->push("default", jobs(5, 1)));
    ASSERT_TRUE(entered.wait());
    EXPECT_EQ(pool->request_stop(900, 6, StopReason::canceled), 0);
    EXPECT_EQ(pool->request_stop(900, 5, StopReason::canceled), 1);
    EXPECT_TRUE(pool->wait_idle(in(10s)));
}

TEST(Pool, starts_and_stops_at_once_a_thousand_times) {  // B064, B188
    const CapturedLog captured;
    for (int i = 0; i < 1000; ++i) {
        Pool pool{{.queues = {{"default", 2}}, .calls = {.run = [](const Attempt&) {}}}, captured.log()};
        if (i % 5 == 0) static_cast<void>(pool.close());
        if (i % 7 != 0) pool.start();
        if (i % 3 != 0) static_cast<void>(pool.push("default", jobs(1, i % 4)));
        if (i % 2 != 0) {
            EXPECT_TRUE(pool.finish(in(10s)).empty());
        }
    }
}

}  // namespace
