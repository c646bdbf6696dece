#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/failure.hpp>
#include <pawl/job_context.hpp>
#include <pawl/retry_policy.hpp>
#include <pawl/testing.hpp>

#include "support/heard.hpp"
#include "support/signal.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
using tests::Note;
using tests::Nudge;
using tests::Signal;

class BadInput : public tests::SystemTest {};

/// A policy that does something before it leaves all to the job.
struct Doing final : RetryPolicy {
    [[nodiscard]] bool should_retry(int, const Failure&) const override {
        if (act) act();
        return true;
    }
    [[nodiscard]] Duration delay(int, const Failure&) const override { return answer; }

    std::function<void()> act;
    Duration answer;
};

struct Silent final : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};
struct Secretive : private std::runtime_error {
    Secretive() : std::runtime_error("private") {}
};
struct Left : std::runtime_error {
    Left() : std::runtime_error("left") {}
};
struct Right : std::runtime_error {
    Right() : std::runtime_error("right") {}
};
struct Ambiguous : Left, Right {};

// Each place where user code is called, with a job that gets it called.
TEST_F(BadInput, user_code_may_use_its_scheduler_wherever_it_is_called) {
    Options options = this->options();
    const auto policy = std::make_shared<Doing>();
    options.retry_policy = policy;
    Scheduler scheduler(options);
    std::vector<std::pair<std::string, std::optional<JobInfo>>> found;
    base::Mutex mutex;
    const auto uses = [&](const char* place) {
        const JobId id = scheduler.enqueue(Nudge{}).submit().id();
        const base::MutexLock lock(mutex);
        found.emplace_back(place, scheduler.find(id));
    };
    policy->act = [&] { uses("policy"); };
    scheduler.on<Nudge>([](const Nudge&) {});
    scheduler
        .on<Note>([](const Note& note) {
            if (note.text == "discarded") throw Left();
            if (note.text == "waits") throw Right();
            throw std::runtime_error("open");
        })
        .discard_on<Left>([&](const Failure&) { uses("discard_on"); })
        .retry_on<Right>({.wait = [&](int) -> Duration {
            uses("wait");
            return 0s;
        }})
        .retry_with([&](const Failure&) {
            uses("strategy");
            return RetryPlan{.retries = 1, .delays = {}};
        })
        .on_exhausted([&](const Failure&) { uses("exhausted"); })
        .after_discard([&](const Failure&) { uses("after_discard"); });
    const Subscription listening = scheduler.on_event<JobDlq>([&](const JobDlq&) { uses("listener"); });
    Heard<JobFailed> failed(scheduler);
    scheduler.start();
    (void)scheduler.enqueue_many({Note{"discarded"}, Note{"waits"}, Note{"open"}}, {.max_retries = 1});
    ASSERT_TRUE(failed.wait(3));
    ASSERT_TRUE(tests::eventually([&] {
        const base::MutexLock lock(mutex);
        return std::ranges::any_of(found, [](const auto& each) { return each.first == "listener"; });
    }));
    scheduler.stop();

    std::vector<std::string> places;
    for (const auto& [place, job] : found) {
        EXPECT_TRUE(job) << place;
        places.push_back(place);
    }
    for (const char* place : {"policy", "discard_on", "wait", "strategy", "exhausted", "after_discard", "listener"}) {
        EXPECT_THAT(places, ::testing::Contains(place));
    }
}

TEST_F(BadInput, a_policy_that_stops_its_scheduler_does_not_wait_for_itself) {
    Options options = this->options();
    const auto policy = std::make_shared<Doing>();
    options.retry_policy = policy;
    options.backoff = Backoff::fixed(1h);
    Scheduler scheduler(options);
    Signal stopped;
    policy->act = [&] {
        scheduler.stop();
        stopped.raise();
    };
    scheduler.on<Nudge>([](const Nudge&) { throw std::runtime_error("no"); });
    scheduler.start();
    const JobId id = scheduler.enqueue(Nudge{}).submit().id();
    EXPECT_TRUE(stopped.wait());
    scheduler.stop();
    EXPECT_EQ(scheduler.find(id)->state, State::pending);
    EXPECT_EQ(scheduler.find(id)->attempts, 1);
}

TEST_F(BadInput, a_policy_that_blocks_holds_up_its_own_job_only) {
    Options options = this->options();
    const auto policy = std::make_shared<Doing>();
    options.retry_policy = policy;
    Signal asked, release;
    policy->act = [&] {
        asked.raise();
        (void)release.wait();
    };
    Scheduler scheduler(options);
    scheduler.on<Nudge>([](const Nudge&) { throw std::runtime_error("no"); });
    scheduler.on<Count>([](const Count&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    const JobId held = scheduler.enqueue(Nudge{}).with_max_retries(0).submit().id();
    ASSERT_TRUE(asked.wait());
    EXPECT_TRUE(succeeded.wait_of(scheduler.enqueue(Count{1}).submit().id()));
    EXPECT_EQ(scheduler.find(held)->state, State::running);
    release.raise();
    EXPECT_TRUE(reaches(scheduler, held, State::failed));
}

TEST_F(BadInput, a_delay_that_cannot_be_is_replaced_by_the_jobs_own) {
    struct Row {
        const char* name;
        Duration delay;
        bool replaced;
    };
    const std::vector<Row> rows{
        {"negative", -1s, true},
        {"least", std::chrono::nanoseconds::min(), true},
        {"largest", std::chrono::hours::max(), true},
        {"not a number", std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()), true},
        {"infinite", std::chrono::duration<double>(std::numeric_limits<double>::infinity()), true},
        {"zero", 0s, true},  // which means that of the job
        {"a day", 24h, false},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        Options options = this->options();
        const auto policy = std::make_shared<Doing>();
        policy->answer = row.delay;
        options.retry_policy = policy;
        options.backoff = Backoff::fixed(3h).jittered(Jitter::none());
        Scheduler scheduler(options);
        scheduler.on<Nudge>([](const Nudge&) { throw std::runtime_error("no"); });
        Heard<JobRetrying> retrying(scheduler);
        Heard<MisbehavingPolicy> misbehaving(scheduler);
        const JobId id = scheduler.enqueue(Nudge{}).submit().id();
        EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
        ASSERT_EQ(retrying.count(), 1U);
        EXPECT_EQ(scheduler.find(id)->state, State::pending);
        EXPECT_EQ(number("select (extract(epoch from delay))::bigint from @schema@.attempt order by id desc limit 1"),
                  row.replaced ? 3 * 3600 : 24 * 3600);
        EXPECT_EQ(misbehaving.count(), row.replaced && row.delay != Duration() ? 1U : 0U);
    }
}

TEST_F(BadInput, odd_errors_become_clear_records) {
    struct Local {};
    struct Row {
        const char* name;
        std::string type, message;
    };
    const std::vector<Row> rows{
        {"silent", "Silent", ""},
        {"private", "Secretive", ""},
        {"ambiguous", "Ambiguous", ""},
        {"local", "Local", ""},
        {"escape", "std::runtime_error", "[31mred[0m"},
        {"deep", "std::runtime_error", "outer"},
    };
    Scheduler scheduler(options());
    scheduler.on<Note>([](const Note& note) {
        if (note.text == "silent") throw Silent();
        if (note.text == "private") throw Secretive();
        if (note.text == "ambiguous") throw Ambiguous();
        if (note.text == "local") throw Local();
        if (note.text == "escape") throw std::runtime_error("\x1B[31mred\x1B[0m");
        std::exception_ptr error = std::make_exception_ptr(7);
        for (int depth = 0; depth < 10'000; ++depth) {
            try {
                try {
                    std::rethrow_exception(std::exchange(error, nullptr));
                } catch (...) {
                    std::throw_with_nested(std::runtime_error("outer"));
                }
            } catch (...) {
                error = std::current_exception();
            }
        }
        std::rethrow_exception(std::move(error));
    });
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        const JobId id = scheduler.enqueue(Note{row.name}).with_max_retries(0).submit().id();
        EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
        const auto job = scheduler.find(id);
        EXPECT_EQ(job->state, State::failed);
        EXPECT_EQ(job->reason, Reason::exhausted);
        ASSERT_TRUE(job->error);
        EXPECT_THAT(job->error->type, ::testing::HasSubstr(row.type));
        EXPECT_EQ(job->error->message, row.message);
        EXPECT_EQ(job->error->causes.size(), row.message == "outer" ? 10U : 0U);
    }
}

/// The same kind in two releases.
struct Old {
    static constexpr std::string_view kind = "versioned";
    int n{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Old, n)
};
struct New {
    static constexpr std::string_view kind = "versioned";
    static constexpr int payload_version = 1;
    std::string name;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(New, name)
};

TEST_F(BadInput, a_payload_of_a_newer_release_waits_for_it) {  // T2
    Scheduler newer(options());
    newer.on<New>([](const New& job) { return job.name; });
    const JobId id = newer.enqueue(New{"x"}).submit().id();
    {
        Scheduler older(options());
        older.on<Old>([](const Old&) {});
        (void)pawl::testing::drain(older);
        EXPECT_EQ(older.find(id)->state, State::pending);
        EXPECT_EQ(older.find(id)->attempts, 0);
        EXPECT_EQ(number("select count(*) from @schema@.scheduled where run_at > now() + interval '20 s'"), 1);
    }
    (void)pawl::testing::make_due(newer);
    EXPECT_EQ(pawl::testing::drain(newer), 1U);
    EXPECT_EQ(newer.find(id)->result, "\"x\"");
}

TEST_F(BadInput, a_payload_that_only_an_older_release_decodes_goes_on_when_it_can_be_again) {
    Scheduler older(options());
    older.on<Old>([](const Old& job) { return job.n; });
    const JobId id = older.enqueue(Old{5}).submit().id();
    {
        Scheduler newer(options());
        newer.on<New>([](const New&) {});
        (void)pawl::testing::drain(newer);
        EXPECT_EQ(newer.find(id)->state, State::pending);
        EXPECT_EQ(newer.find(id)->attempts, 1);
    }
    (void)pawl::testing::make_due(older);
    EXPECT_EQ(pawl::testing::drain(older), 1U);
    EXPECT_EQ(older.find(id)->result, "5");
}

}  // namespace
