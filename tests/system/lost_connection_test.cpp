#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>

#include "support/heard.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using std::chrono::steady_clock;
using tests::Count;
using tests::Heard;

class LostConnection : public tests::SystemTest {
protected:
    /// Ends the sessions of that name, and returns how many there were.
    std::int64_t kill(const std::string& name) {
        return sql("select count(*) filter (where pg_terminate_backend(pid, 5000)) from pg_stat_activity "
                   "where application_name = $1 and pid <> pg_backend_pid()",
                   store::pg::Params{}.add(name))
            .int64(0, 0);
    }
    [[nodiscard]] bool connected(const std::string& name) {
        return tests::eventually([&] {
            return sql("select count(*) from pg_stat_activity where application_name = $1",
                       store::pg::Params{}.add(name))
                       .int64(0, 0) > 0;
        });
    }
};

TEST_F(LostConnection, every_session_may_die_under_load_and_each_job_still_ends_once) {  // B094, B196, R34
    std::mutex mutex;
    std::map<JobId, int> ledger;
    Options options = this->options();
    options.heartbeat = 100ms;
    Scheduler scheduler(options);
    scheduler.on<Count>([&](const Count&, JobContext& context) {
        const std::lock_guard lock(mutex);
        ++ledger[context.id()];
    });
    std::atomic<int> succeeded{};
    const auto counting = scheduler.on_event<JobSucceeded>([&](const JobSucceeded&) { ++succeeded; });
    scheduler.start();

    std::jthread producer([&](const std::stop_token& stop) {
        const std::vector<Count> jobs(20);
        int enqueued = 0;
        while (!stop.stop_requested()) {
            // Always enough to do, and never so much that the end is long to wait for.
            if (enqueued - succeeded > 1000) {
                std::this_thread::yield();
                continue;
            }
            try {
                enqueued += static_cast<int>(scheduler.enqueue_many(jobs).size());
            } catch (const StoreError& error) {
                // In doubt it may have happened: the database knows.
                if (!error.in_doubt() && !error.transient()) ADD_FAILURE() << error.what();
            }
        }
    });
    for (int round = 0; round < 3; ++round) {
        for (const char* name : {"pawl claim", "pawl settle", "pawl pulse", "pawl upkeep", "pawl listener", "pawl"}) {
            EXPECT_TRUE(connected(name)) << name;
            kill(name);
            const int before = succeeded;
            EXPECT_TRUE(tests::eventually([&] { return succeeded > before + 50; })) << "after the end of " << name;
        }
    }
    producer.request_stop();
    producer.join();

    const std::int64_t total = number("select count(*) from @schema@.job");
    EXPECT_TRUE(tests::eventually([&] { return number("select count(*) from @schema@.done") == total; }));
    scheduler.stop();
    EXPECT_EQ(static_cast<std::int64_t>(ledger.size()), total);
    EXPECT_TRUE(std::all_of(ledger.begin(), ledger.end(), [](const auto& run) { return run.second == 1; }));
    EXPECT_EQ(number("select count(*) from @schema@.done where state <> 'succeeded'"), 0);
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
}

TEST_F(LostConnection, all_sessions_at_once_come_back) {  // B094
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    for (std::size_t round = 1; round <= 3; ++round) {
        sql("select pg_terminate_backend(pid, 5000) from pg_stat_activity "
            "where application_name like 'pawl%' and application_name <> 'pawl test' and pid <> pg_backend_pid()");
        // The first call on a pooled session may meet its end.
        EXPECT_TRUE(tests::eventually([&] {
            try {
                (void)scheduler.enqueue(Count{1}).submit();
                return true;
            } catch (const StoreError&) {
                return false;
            }
        }));
        EXPECT_TRUE(succeeded.wait(round));
    }
}

TEST_F(LostConnection, the_listener_listens_again) {  // B085
    Options options = this->options();
    options.poll_floor = 30s;
    Scheduler scheduler(options);
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    for (std::size_t round = 1; round <= 5; ++round) {
        ASSERT_TRUE(connected("pawl listener"));
        kill("pawl listener");
        ASSERT_TRUE(connected("pawl listener"));
        ASSERT_TRUE(tests::eventually([&] { return number("select count(*) from @schema@.waiting") == 2; }));
        const auto enqueued = steady_clock::now();
        (void)scheduler.enqueue(Count{1}).submit();
        ASSERT_TRUE(succeeded.wait(round));
        EXPECT_LT(steady_clock::now() - enqueued, 2s);
    }
}

}  // namespace
