#include <atomic>
#include <csignal>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <pawl/control.hpp>
#include <pawl/failure.hpp>
#include <pawl/job_context.hpp>
#include <pawl/testing.hpp>

#include "support/heard.hpp"
#include "support/processes.hpp"
#include "support/signal.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::Count;
using tests::Heard;
using tests::Note;
using tests::Signal;
using tests::Worker;

/// The records that follow-ups got.
class Records {
public:
    void add(const FinishedJob& record) {
        const std::lock_guard lock(mutex_);
        records_.push_back(record);
    }
    [[nodiscard]] std::vector<FinishedJob> all() const {
        const std::lock_guard lock(mutex_);
        return records_;
    }
    [[nodiscard]] bool reach(std::size_t count) const {
        return tests::eventually([&] { return all().size() >= count; });
    }

private:
    mutable std::mutex mutex_;
    std::vector<FinishedJob> records_;
};

class FollowUp : public tests::SystemTest {
protected:
    std::int64_t jobs_of(std::string_view kind) {
        return sql("select count(*) from @schema@.jobs where kind = $1", store::pg::Params{}.add(kind)).int64(0, 0);
    }
};

// R16, R17, R18
TEST_F(FollowUp, of_a_failure_runs_once_after_the_last_retry) {
    Records records;
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) { throw std::runtime_error("no luck, password=hunter2"); });
    scheduler.on_failure("count.failed", [&](const FinishedJob& record) { records.add(record); });
    Heard<JobRetrying> retrying(scheduler);
    const auto job = scheduler.enqueue(Count{3})
                         .with_max_retries(2)
                         .with_tags({"payment"})
                         .with_param("tenant", "x")
                         .with_priority(Priority::low)
                         .on_failure("count.failed")
                         .on_success("count.succeeded")
                         .submit();
    scheduler.start();
    ASSERT_TRUE(records.reach(1));
    EXPECT_EQ(retrying.count(), 2U);

    const FinishedJob record = records.all().at(0);
    EXPECT_EQ(record.id, job.id());
    EXPECT_EQ(record.kind, Count::kind);
    EXPECT_EQ(record.queue, "default");
    EXPECT_EQ(record.priority, Priority::low);
    EXPECT_EQ(record.state, State::failed);
    EXPECT_EQ(record.attempts, 3);
    EXPECT_EQ(record.reason, Reason::exhausted);
    EXPECT_FALSE(record.discarded);
    ASSERT_TRUE(record.error);
    EXPECT_EQ(record.error, scheduler.find(job.id())->error);
    EXPECT_EQ(record.error->message.find("hunter2"), std::string::npos);
    EXPECT_EQ(record.payload_as<Count>().n, 3);
    EXPECT_FALSE(record.payload_left_out);
    EXPECT_FALSE(record.result);
    EXPECT_THAT(record.tags, ElementsAre("payment"));
    EXPECT_EQ(record.params.at("tenant"), "x");
    EXPECT_EQ(record.created_at, scheduler.find(job.id())->created_at);
    EXPECT_GE(record.finished_at, record.created_at);
    EXPECT_EQ(jobs_of("count.failed"), 1);
    EXPECT_EQ(jobs_of("count.succeeded"), 0);
}

TEST_F(FollowUp, is_chosen_by_the_end_and_there_is_none_of_a_cancellation) {
    struct Row {
        const char* text;
        const char* follows;
        Reason reason;
        bool discarded;
    };
    const std::vector<Row> rows{{"well", "good", Reason::none, false},
                                {"permanent", "bad", Reason::permanent, false},
                                {"discard", "bad", Reason::discarded, true},
                                {"cancel", "", Reason::none, false}};
    Records good;
    Records bad;
    Scheduler scheduler(options());
    scheduler.on<Note>([](const Note& note) {
        if (note.text == "permanent") throw std::invalid_argument("x");
        if (note.text == "discard") throw Discard{"not worth it"};
        if (note.text == "cancel") throw Cancel{"nobody wants it"};
        return "done " + note.text;
    });
    scheduler.on_failure("bad", [&](const FinishedJob& record) { bad.add(record); });
    scheduler.on_success("good", [&](const FinishedJob& record) { good.add(record); });
    for (const Row& row : rows) {
        scheduler.enqueue(Note{row.text}).on_failure("bad").on_success("good").submit();
    }
    EXPECT_EQ(pawl::testing::drain(scheduler), 7U);
    for (const Row& row : rows) {
        const auto of_row = [&](const Records& records) {
            std::vector<FinishedJob> found;
            for (const FinishedJob& record : records.all()) {
                if (record.payload_as<Note>().text == row.text) found.push_back(record);
            }
            return found;
        };
        const auto expected = [&](std::string_view kind) { return row.follows == kind ? 1U : 0U; };
        EXPECT_THAT(of_row(good), SizeIs(expected("good"))) << row.text;
        EXPECT_THAT(of_row(bad), SizeIs(expected("bad"))) << row.text;
        for (const FinishedJob& record : of_row(bad)) {
            EXPECT_EQ(record.reason, row.reason) << row.text;
            EXPECT_EQ(record.discarded, row.discarded) << row.text;
        }
        for (const FinishedJob& record : of_row(good)) EXPECT_EQ(record.result, "\"done well\"");
    }
}

TEST_F(FollowUp, has_retries_and_rules_of_its_own_and_no_follow_up) {  // B147
    std::atomic<int> runs{0};
    Signal done;
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) { throw std::invalid_argument("x"); });
    scheduler
        .on_failure("count.failed",
                    [&](const FinishedJob& record, JobContext& context) {
                        if (++runs < 3) throw std::runtime_error("not yet");
                        EXPECT_EQ(context.attempt(), 3);
                        EXPECT_EQ(context.kind(), "count.failed");
                        EXPECT_EQ(record.attempts, 0);
                        done.raise();
                    })
        .with_max_retries(5)
        .retry_on<std::runtime_error>({.attempts = 4, .wait = 0s});
    scheduler.enqueue(Count{1}).on_failure("count.failed").submit();
    scheduler.start();
    ASSERT_TRUE(done.wait());
    EXPECT_EQ(jobs_of("count.failed"), 1);
}

TEST_F(FollowUp, that_nobody_handles_stays_pending_for_all_to_see) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    scheduler.enqueue(Count{1}).on_success("nobody's").submit();
    pawl::testing::drain(scheduler);
    EXPECT_EQ(sql("select state::text from @schema@.jobs where kind = 'nobody''s'").text(0, 0), "pending");
}

TEST_F(FollowUp, is_named_by_every_way_to_enqueue) {
    Records records;
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    scheduler.on_success("counted", [&](const FinishedJob& record) { records.add(record); });
    const EnqueueOptions counting{.on_success = "counted"};
    pqxx::connection connection(dsn());
    pqxx::work tx(connection);
    const auto one = scheduler.enqueue(Count{1}).on_success("counted").submit(tx).id();
    const auto many = scheduler.enqueue_many(tx, std::vector{Count{2}, Count{3}}, counting);
    tx.commit();
    const EnqueueStatement statement = scheduler.enqueue_statement(Count{4}, counting);
    store::pg::Params params;
    for (const auto& value : statement.params) params.add(value);
    sql(statement.sql, params);
    const JobId by_sql =
        sql(R"(select @schema@.enqueue('count', '{"n": 5}', '{"on_success": "counted"}'))").int64(0, 0);
    pawl::testing::drain(scheduler);
    std::vector<int> counted;
    for (const FinishedJob& record : records.all()) counted.push_back(record.payload_as<Count>().n);
    EXPECT_THAT(counted, ::testing::UnorderedElementsAre(1, 2, 3, 4, 5));
    EXPECT_LT(one, many.front());
    EXPECT_LT(many.back(), by_sql);
}

TEST_F(FollowUp, refuses_names_that_are_no_kinds) {
    Scheduler scheduler(options());
    const std::string long_name(201, 'x');
    for (const std::string& name : {std::string(), long_name, std::string("a\nb"), std::string("\xff")}) {
        EXPECT_THROW(scheduler.enqueue(Count{1}).on_failure(name).submit(), ConfigError);
        EXPECT_THROW(scheduler.enqueue(Count{1}).on_success(name).submit(), ConfigError);
        EXPECT_THROW((void)scheduler.enqueue_many({Count{1}}, {.on_failure = name}), ConfigError);
        EXPECT_THROW((void)scheduler.enqueue_many({Count{1}}, {.on_success = name}), ConfigError);
        EXPECT_THROW(scheduler.on_failure(name, [](const FinishedJob&) {}), ConfigError);
    }
    scheduler.on_failure("twice", [](const FinishedJob&) {});
    EXPECT_THROW(scheduler.on_success("twice", [](const FinishedJob&) {}), ConfigError);
    for (const char* options : {R"({"on_failure": ""})", R"({"on_success": null})", R"({"on_failure": "a\nb"})"}) {
        EXPECT_THROW(sql("select @schema@.enqueue('count', '{}', $1::jsonb)", store::pg::Params{}.add(options)),
                     StoreError)
            << options;
    }
    EXPECT_EQ(number("select count(*) from @schema@.job"), 0);
}

TEST_F(FollowUp, says_so_when_it_leaves_out_a_large_payload) {
    Records records;
    Options small = options();
    small.max_payload = 100;
    Scheduler scheduler(small);
    scheduler.on<Note>([](const Note&) {});
    scheduler.on_success("noted", [&](const FinishedJob& record) { records.add(record); });
    const std::string text(1000, 'x');
    sql("select @schema@.enqueue('note', jsonb_build_object('text', $1::text), '{\"on_success\": \"noted\"}')",
        store::pg::Params{}.add(text));
    pawl::testing::drain(scheduler);
    ASSERT_THAT(records.all(), SizeIs(1));
    EXPECT_TRUE(records.all()[0].payload_left_out);
    EXPECT_EQ(records.all()[0].payload, "");
}

TEST_F(FollowUp, survives_a_process_that_is_killed_right_after_the_commit) {
    sql("create table @schema@.ledger (id bigint, pid bigint, token bigint, at timestamptz default clock_timestamp())");
    Records records;
    Options late = options();
    Scheduler scheduler(late);
    scheduler.on_failure("note.failed", [&](const FinishedJob& record) { records.add(record); });
    Worker worker(dsn(), schema(), {"--die-on-failure"});
    ASSERT_EQ(worker.line(), "started");
    const auto job = scheduler.enqueue(Note{"fail"}).on_failure("note.failed").submit();
    EXPECT_EQ(worker.wait(), -SIGKILL);
    EXPECT_EQ(scheduler.find(job.id())->state, State::failed);
    EXPECT_THAT(records.all(), IsEmpty());

    scheduler.start();
    ASSERT_TRUE(records.reach(1));
    EXPECT_EQ(records.all()[0].id, job.id());
    EXPECT_EQ(jobs_of("note.failed"), 1);
}

TEST_F(FollowUp, of_a_job_that_took_its_process_down_is_written_by_the_rescuer) {
    sql("create table @schema@.ledger (id bigint, pid bigint, token bigint, at timestamptz default clock_timestamp())");
    Signal called;
    std::atomic<bool> had_exception{true};
    Options rescuer = options();
    rescuer.queues = {{"elsewhere", 1}};
    rescuer.heartbeat = 300ms;
    rescuer.node_expiry = 1500ms;
    Scheduler scheduler(rescuer);
    scheduler.on<Note>([](const Note&) {}).after_discard([&](const Failure& failure) {
        had_exception = failure.exception() != nullptr;
        called.raise();
        throw 7;  // It is contained on the thread of the lost runs as well.
    });
    Heard<MisbehavingHook> misbehaving(scheduler);
    const auto job = scheduler.enqueue(Note{"kill"}).on_failure("note.failed").submit();
    sql("update @schema@.ready set crashes = 3");
    Worker worker(dsn(), schema());
    EXPECT_EQ(worker.wait(), -SIGKILL);

    scheduler.start();
    ASSERT_TRUE(called.wait());
    EXPECT_FALSE(had_exception);
    EXPECT_TRUE(misbehaving.wait());
    EXPECT_EQ(scheduler.find(job.id())->reason, Reason::worker_lost);
    const auto record =
        sql("select payload ->> 'reason', payload ->> 'id' from @schema@.jobs where kind = 'note.failed'");
    ASSERT_EQ(record.size(), 1U);
    EXPECT_EQ(record.text(0, 0), "worker_lost");
    EXPECT_EQ(record.int64(0, 1), job.id());
}

TEST_F(FollowUp, callbacks_run_after_the_write_and_not_for_what_was_stale) {
    Signal entered;
    Signal go_on;
    std::atomic<int> calls{0};
    std::atomic<bool> written{false};
    std::atomic<JobId> id{0};
    Scheduler scheduler(options());
    scheduler
        .on<Count>([&](const Count&) {
            entered.raise();
            (void)go_on.wait();
            throw std::invalid_argument("x");
        })
        .after_discard([&](const Failure& failure) {
            ++calls;
            written = failure.is<std::invalid_argument>() && scheduler.find(id)->state == State::failed;
        });
    Heard<StaleOutcome> stale(scheduler);
    Heard<JobDlq> dead(scheduler);
    id = scheduler.enqueue(Count{1}).submit().id();
    scheduler.start();
    ASSERT_TRUE(entered.wait());
    // Somebody else takes the claim away, and gives the job back.
    sql(R"(with taken as (delete from @schema@.claim returning ids[1] as id, queues[1] as queue, kinds[1] as kind)
           insert into @schema@.ready (first_id, run_at, queue, kind, priority)
           select id, clock_timestamp(), queue, kind, 2 from taken)");
    go_on.raise();
    ASSERT_TRUE(stale.wait());
    ASSERT_TRUE(dead.wait());
    EXPECT_TRUE(scheduler.stop().clean());
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(written);
}

TEST_F(FollowUp, on_fatal_is_told_once) {
    std::atomic<int> told{0};
    Signal first;
    Options fatal = options();
    fatal.on_fatal = [&](const ErrorRecord& record) {
        EXPECT_EQ(record.message, "the disk is gone");
        ++told;
        first.raise();
        throw std::runtime_error("contained");
    };
    Scheduler scheduler(fatal);
    std::atomic<int> running{0};
    scheduler.on<Count>([&](const Count&) {
        // Two at the same time, so that both end this way.
        ++running;
        while (running < 2) std::this_thread::yield();
        throw WorkerFatal{"the disk is gone"};
    });
    Heard<WorkerStopped> stopped(scheduler);
    scheduler.enqueue_many({Count{1}, Count{2}});
    scheduler.start();
    ASSERT_TRUE(first.wait());
    ASSERT_TRUE(stopped.wait(2));
    EXPECT_TRUE(scheduler.stop().clean());
    EXPECT_EQ(told, 1);
    EXPECT_EQ(number("select count(*) from @schema@.live where state = 'pending'"), 2);
}

}  // namespace
