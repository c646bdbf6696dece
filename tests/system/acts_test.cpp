#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/pawl.hpp>
#include <pawl/testing.hpp>

#include "support/heard.hpp"
#include "support/jobs.hpp"
#include "support/signal.hpp"
#include "support/system.hpp"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Charge {
    static constexpr std::string_view kind = "acts.charge";
    int order{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Charge, order)
};

class GatewayDown : public std::runtime_error {
    using runtime_error::runtime_error;
};

class SystemActs : public tests::SystemTest {};

// liveness: the owner is fenced at once, its node told, its handler's token fires, and its late result is stale.
// T7
TEST_F(SystemActs, cancel_a_running_job_on_another_node) {
    for (const bool listen : {true, false}) {
        SCOPED_TRACE(listen);
        Options setup = options();
        setup.listen = listen;
        setup.heartbeat = 100ms;
        Scheduler worker{setup};
        std::latch begun{1};
        std::atomic<bool> stopped{false};
        worker.on<Charge>([&](const Charge&, JobContext& context) {
            begun.count_down();
            std::latch fired{1};
            const std::stop_callback on_stop(context.stop_token(), [&] { fired.count_down(); });
            fired.wait();
            stopped = true;
            context.throw_if_stopped();
        });
        tests::Signal stale;
        const auto heard = worker.on_event<StaleOutcome>([&](const StaleOutcome&) { stale.raise(); });
        worker.start();

        Scheduler operator_{options()};
        std::vector<std::string> told;
        const JobId id = operator_.enqueue(Charge{1}).submit().id();
        begun.wait();
        const ActResult result = operator_.cancel_job(id, {.by = "ops", .why = "ordered twice"});
        EXPECT_TRUE(result.done);
        EXPECT_EQ(result.state, State::canceled);
        EXPECT_TRUE(stale.wait(1));
        EXPECT_TRUE(stopped);
        EXPECT_EQ(worker.find(id)->state, State::canceled);
        EXPECT_EQ(worker.find(id)->attempts, 0);
        EXPECT_FALSE(operator_.cancel_job(id));
        ASSERT_THAT(operator_.acts(id), SizeIs(1));
        EXPECT_EQ(operator_.acts(id)[0].why, "ordered twice");
        worker.stop();
    }
}

TEST_F(SystemActs, drop_a_canceled_job_that_its_node_had_claimed_ahead) {
    Options setup = options();
    setup.queues = {{"default", 1}};
    setup.heartbeat = 100ms;
    Scheduler scheduler{setup};
    tests::Signal begun;
    std::latch go{1};
    std::vector<int> ran;
    scheduler.on<Charge>([&](const Charge& job) {
        ran.push_back(job.order);
        begun.raise();
        if (job.order == 100) go.wait();
    });
    // Quick ones first, so that the node claims ahead.
    for (int i = 0; i < 100; ++i) (void)scheduler.enqueue(Charge{i}).submit();
    const JobId blocker = scheduler.enqueue(Charge{100}).submit().id();
    const JobId ahead = scheduler.enqueue(Charge{101}).submit().id();
    const JobId last = scheduler.enqueue(Charge{102}).submit().id();
    scheduler.start();
    ASSERT_TRUE(begun.wait(101));
    EXPECT_TRUE(scheduler.cancel_job(ahead).done);
    // Once its heartbeat no longer hears of it, the node has dropped it; a thread that is quicker would still begin it.
    EXPECT_TRUE(tests::eventually([&] { return number("select count(*) from @schema@.canceled_run") == 0; }));
    go.count_down();
    ASSERT_TRUE(reaches(scheduler, last, State::succeeded));
    EXPECT_TRUE(reaches(scheduler, blocker, State::succeeded));
    scheduler.stop();
    EXPECT_THAT(ran, ::testing::Not(::testing::Contains(101)));
    EXPECT_EQ(scheduler.find(ahead)->state, State::canceled);
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
}

TEST_F(SystemActs, hold_a_paused_job_back_until_it_is_resumed) {
    Scheduler scheduler{options()};
    tests::Signal ran;
    scheduler.on<Charge>([&](const Charge&) { ran.raise(); });
    const JobId held = scheduler.enqueue(Charge{1}).submit().id();
    EXPECT_TRUE(scheduler.pause_job(held, {.by = "ops"}).done);
    EXPECT_FALSE(scheduler.pause_job(held).done);
    scheduler.start();
    const JobId other = scheduler.enqueue(Charge{2}).submit().id();
    ASSERT_TRUE(reaches(scheduler, other, State::succeeded));
    EXPECT_EQ(scheduler.find(held)->state, State::paused);
    EXPECT_TRUE(scheduler.resume_job(held).done);
    EXPECT_TRUE(reaches(scheduler, held, State::succeeded));
    scheduler.stop();
}

TEST_F(SystemActs, tell_who_did_what_and_why) {
    Scheduler scheduler{options()};
    scheduler.on<Charge>([](const Charge&) { throw PermanentError("no such account"); });
    std::vector<std::string> told;
    std::mutex mutex;
    const auto note = [&](const char* what, const JobActEvent& event) {
        const std::lock_guard lock(mutex);
        told.push_back(std::string(what) + " " + event.kind + " by " + event.by + ": " + event.why);
    };
    const auto paused = scheduler.on_event<JobPaused>([&](const JobPaused& e) { note("paused", e); });
    const auto resumed = scheduler.on_event<JobResumed>([&](const JobResumed& e) { note("resumed", e); });
    const auto redriven = scheduler.on_event<JobRedriven>([&](const JobRedriven& e) { note("redriven", e); });
    const auto canceled = scheduler.on_event<JobCanceled>([&](const JobCanceled& e) { note("canceled", e); });
    const JobId id = scheduler.enqueue(Charge{1}).submit().id();
    EXPECT_TRUE(scheduler.pause_job(id, {"a", "1"}).done);
    EXPECT_TRUE(scheduler.resume_job(id, {"b", "2"}).done);
    EXPECT_EQ(testing::drain(scheduler), 1U);
    EXPECT_TRUE(scheduler.retry_job(id, {.by = "c", .why = "3"}).done);
    EXPECT_FALSE(scheduler.retry_job(id).done);
    EXPECT_TRUE(scheduler.cancel_job(id, {"d", "4"}).done);
    (void)testing::drain(scheduler);
    const std::lock_guard lock(mutex);
    EXPECT_THAT(told, ElementsAre("paused acts.charge by a: 1", "resumed acts.charge by b: 2",
                                  "redriven acts.charge by c: 3", "canceled acts.charge by d: 4"));
}

// A21, A42: the counts of rules begin anew with the redrive, and those of the job.
TEST_F(SystemActs, put_a_dead_letter_back_with_fresh_counts) {
    Scheduler scheduler{options()};
    int runs = 0;
    bool down = true;
    scheduler
        .on<Charge>([&](const Charge&) {
            ++runs;
            if (down) throw GatewayDown("the gateway is down");
        })
        .retry_on<GatewayDown>({.attempts = 2, .wait = 0s, .jitter = 0.0});
    const JobId id = scheduler.enqueue(Charge{1}).submit().id();
    (void)testing::drain(scheduler);
    EXPECT_EQ(runs, 2);
    ASSERT_EQ(scheduler.find(id)->reason, Reason::rule_exhausted);
    EXPECT_EQ(scheduler.count_dead_letters({.kind = "acts.charge"}), 1);

    EXPECT_TRUE(scheduler.retry_job(id).done);
    (void)testing::drain(scheduler);
    EXPECT_EQ(runs, 4);
    ASSERT_EQ(scheduler.find(id)->state, State::failed);

    down = false;
    EXPECT_THAT(scheduler.retry_jobs({.kind = "acts.charge", .error_contains = "gateway"}, 10), ElementsAre(id));
    EXPECT_THAT(scheduler.retry_jobs({.kind = "acts.charge"}, 10), IsEmpty());
    (void)testing::drain(scheduler);
    EXPECT_EQ(scheduler.find(id)->state, State::succeeded);
    EXPECT_EQ(runs, 5);
    EXPECT_THAT(scheduler.attempts(id), SizeIs(4));
    EXPECT_THAT(scheduler.acts(id), SizeIs(2));
}

TEST_F(SystemActs, refuse_what_makes_no_sense_and_say_what) {
    Scheduler scheduler{options()};
    struct Case {
        const char* field;
        std::function<void()> call;
    };
    const std::vector<Case> cases{
        {"by", [&] { (void)scheduler.cancel_job(1, {.by = std::string(201, 'x')}); }},
        {"why", [&] { (void)scheduler.pause_job(1, {.why = "a\nb"}); }},
        {"why", [&] { (void)scheduler.resume_job(1, {.why = "\xff"}); }},
        {"wait", [&] { (void)scheduler.retry_job(1, {.wait = -1s}); }},
        {"queue", [&] { (void)scheduler.retry_job(1, {.queue = ""}); }},
        {"filter", [&] { (void)scheduler.retry_jobs({}, 10); }},
        {"filter", [&] { (void)scheduler.count_dead_letters({.discarded = true}); }},
        {"filter", [&] { (void)scheduler.count_dead_letters({.kind = "a", .everything = true}); }},
        {"limit", [&] { (void)scheduler.retry_jobs(Filter::all(), 1001); }},
        {"limit", [&] { (void)scheduler.dead_letters(Filter::all(), {.limit = 0}); }},
        {"after", [&] { (void)scheduler.dead_letters(Filter::all(), {.after = "12-x"}); }},
        {"per_second", [&] { (void)scheduler.retry_jobs(Filter::all(), 1, {.per_second = 0.0}); }},
        {"per_second", [&] { (void)scheduler.retry_jobs(Filter::all(), 1, {.per_second = std::nan("")}); }},
        {"error_contains", [&] { (void)scheduler.count_dead_letters({.error_contains = ""}); }},
        {"created_after",
         [&] {
             const Time now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
             (void)scheduler.count_dead_letters({.created_after = now, .created_before = now - 1s});
         }},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.field);
        try {
            one.call();
            ADD_FAILURE() << "was taken";
        } catch (const ConfigError& error) {
            EXPECT_EQ(error.field(), one.field) << error.what();
        }
    }
}

TEST_F(SystemActs, cancel_what_is_meant_wherever_it_stands) {
    Scheduler scheduler(options());
    tests::Signal begun;
    scheduler.on<Charge>([&](const Charge&, JobContext& context) {
        begun.raise();
        tests::Signal stopped;
        const std::stop_callback raise(context.stop_token(), [&] { stopped.raise(); });
        (void)stopped.wait();
    });
    scheduler.on<tests::Count>([](const tests::Count&) {});
    tests::Heard<JobCanceled> canceled(scheduler);
    const JobId kept = scheduler.enqueue(tests::Count{1}).with_delay(1h).submit().id();
    std::vector<JobId> ids = scheduler.enqueue_many(std::vector<Charge>(6));
    scheduler.start();
    ASSERT_TRUE(begun.wait(4));
    ids.push_back(scheduler.enqueue(Charge{1}).with_delay(1h).submit().id());
    ids.push_back(scheduler.enqueue(Charge{2}).with_delay(1h).submit().id());
    EXPECT_TRUE(scheduler.pause_job(ids.back()));

    EXPECT_THROW((void)scheduler.cancel_jobs({}, 100), ConfigError);
    EXPECT_THROW((void)scheduler.cancel_jobs(JobFilter::all(), 0), ConfigError);
    EXPECT_THROW((void)scheduler.cancel_jobs(JobFilter::all(), 10'001), ConfigError);
    const ActOptions act{.by = "ann", .why = "no more"};
    std::vector<JobId> first = scheduler.cancel_jobs({.kind = "acts.charge"}, 3, act);
    EXPECT_EQ(first.size(), 3U);
    for (const JobId id : scheduler.cancel_jobs({.kind = "acts.charge"}, 100, act)) first.push_back(id);
    EXPECT_EQ(first, ids);
    EXPECT_TRUE(scheduler.cancel_jobs({.kind = "acts.charge"}, 100, act).empty());
    ASSERT_TRUE(canceled.wait(ids.size()));
    EXPECT_EQ(canceled.all().front().by, "ann");
    for (const JobId id : ids) EXPECT_EQ(scheduler.find(id)->state, State::canceled);
    EXPECT_EQ(scheduler.find(kept)->state, State::pending);
    EXPECT_TRUE(scheduler.stop().clean());
}

}  // namespace
}  // namespace pawl
