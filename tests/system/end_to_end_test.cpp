#include <atomic>
#include <chrono>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <pthread.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>
#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <pawl/control.hpp>
#include <pawl/error_sanitizer.hpp>
#include <pawl/errors.hpp>
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

class EndToEnd : public tests::SystemTest {};

int twice(int n, const std::string& text) { return 2 * n + static_cast<int>(text.size()); }
inline constexpr Task twice_task{"math.twice", &twice};

struct Greeter {
    std::string greet(const Note& note) const { return prefix + note.text; }
    std::string prefix;
};

struct OtherCount {
    static constexpr std::string_view kind = Count::kind;
};

TEST_F(EndToEnd, a_lambda_a_task_and_a_method_run_and_their_results_are_stored) {
    const Greeter greeter{"hello "};
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count& count) { return count.n + 1; });
    scheduler.on(twice_task);
    scheduler.on<Note>(greeter, &Greeter::greet);
    scheduler.on<Nudge>([](const Nudge&) {});
    Heard<JobSucceeded> succeeded(scheduler);
    const JobId count = scheduler.enqueue(Count{41}).submit().id();
    const JobId task = scheduler.enqueue(twice_task, 20, "ab").submit().id();
    const JobId note = scheduler.enqueue(Note{"w\u00f6rld"}).submit().id();
    const JobId nudge = scheduler.enqueue(Nudge{}).submit().id();
    scheduler.start();
    ASSERT_TRUE(succeeded.wait(4));

    EXPECT_EQ(scheduler.find(count)->result, "42");
    EXPECT_EQ(scheduler.find(task)->result, "42");
    EXPECT_EQ(scheduler.find(note)->result, "\"hello w\u00f6rld\"");
    EXPECT_EQ(scheduler.find(nudge)->result, std::nullopt);
    const auto job = scheduler.find(count);
    EXPECT_EQ(job->state, State::succeeded);
    EXPECT_EQ(job->attempts, 0);
    EXPECT_TRUE(job->finished_at);
    EXPECT_TRUE(job->duration);
}

TEST_F(EndToEnd, the_context_tells_what_was_enqueued) {
    struct Seen {
        JobId id{};
        std::string kind, queue;
        int attempt{}, max_retries{};
        std::map<std::string, std::string> params;
        std::vector<std::string> tags;
        std::optional<std::string> tenant, missing;
        ClaimToken token{};
        bool on_time{}, has_deadline{}, stopped{};
    } seen;
    Options options = this->options();
    options.queues = {{"mail", 1}};
    Scheduler scheduler(options);
    scheduler.on<Count>([&](const Count&, JobContext& context) {
        seen = {context.id(),
                context.kind(),
                context.queue(),
                context.attempt(),
                context.max_retries(),
                context.params(),
                context.tags(),
                std::nullopt,
                std::nullopt,
                context.claim_token(),
                context.created_at() <= context.run_at() && context.run_at() <= context.started_at() + 1s,
                context.deadline().has_value() && context.remaining() <= 30s && context.remaining() > 20s,
                context.stop_token().stop_requested()};
        if (context.param("tenant")) seen.tenant = std::string(*context.param("tenant"));
        if (context.param("missing")) seen.missing = "there";
    });
    const JobId id = scheduler.enqueue(Count{1})
                         .with_queue("mail")
                         .with_max_retries(7)
                         .with_timeout(30s)
                         .with_tags({" Payment ", "eu"})
                         .with_param("tenant", "acme")
                         .submit()
                         .id();
    EXPECT_EQ(pawl::testing::drain(scheduler), 1U);

    EXPECT_EQ(seen.id, id);
    EXPECT_EQ(seen.kind, "count");
    EXPECT_EQ(seen.queue, "mail");
    EXPECT_EQ(seen.attempt, 1);
    EXPECT_EQ(seen.max_retries, 7);
    EXPECT_THAT(seen.params, ::testing::ElementsAre(::testing::Pair("tenant", "acme")));
    EXPECT_THAT(seen.tags, ::testing::UnorderedElementsAre("payment", "eu"));
    EXPECT_EQ(seen.tenant, "acme");
    EXPECT_EQ(seen.missing, std::nullopt);
    EXPECT_GT(seen.token, 0);
    EXPECT_TRUE(seen.on_time);
    EXPECT_TRUE(seen.has_deadline);
    EXPECT_FALSE(seen.stopped);
}

TEST_F(EndToEnd, urgent_jobs_go_first_and_equal_ones_in_their_order) {
    std::vector<int> order;
    Options options = this->options();
    options.queues = {{"default", 1}};
    Scheduler scheduler(options);
    scheduler.on<Count>([&](const Count& count) { order.push_back(count.n); });
    scheduler.enqueue(Count{5}).with_priority(Priority::lowest).submit();
    scheduler.enqueue(Count{3}).submit();
    scheduler.enqueue(Count{4}).submit();
    scheduler.enqueue(Count{2}).with_priority(Priority::high).submit();
    scheduler.enqueue(Count{1}).with_priority(Priority::critical).submit();
    EXPECT_EQ(pawl::testing::drain(scheduler), 5U);
    EXPECT_THAT(order, ::testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(EndToEnd, a_delayed_job_runs_at_its_time_and_not_before) {
    std::atomic<std::int64_t> ran{};
    Scheduler scheduler(options());
    scheduler.on<Nudge>(
        [&](const Nudge&, JobContext& context) { ran = (context.started_at() - context.run_at()).count(); });
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    const auto enqueued = std::chrono::steady_clock::now();
    const JobId id = scheduler.enqueue(Nudge{}).with_delay(300ms).submit().id();
    ASSERT_TRUE(succeeded.wait_of(id));
    EXPECT_GE(std::chrono::steady_clock::now() - enqueued, 300ms);
    EXPECT_GE(ran, 0);
}

TEST_F(EndToEnd, each_queue_runs_as_many_at_a_time_as_it_may) {
    std::atomic<int> running_wide{}, running_narrow{}, most_wide{}, most_narrow{};
    std::latch three_at_once(3);
    Options options = this->options();
    options.queues = {{"wide", 3}, {"narrow", 1}};
    Scheduler scheduler(options);
    scheduler.on<Count>([&](const Count& count, JobContext& context) {
        const bool wide = context.queue() == "wide";
        auto& running = wide ? running_wide : running_narrow;
        auto& most = wide ? most_wide : most_narrow;
        const int now = ++running;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        if (wide && count.n < 3) three_at_once.arrive_and_wait();
        --running;
    });
    Heard<JobSucceeded> succeeded(scheduler);
    for (int n = 0; n < 12; ++n) {
        scheduler.enqueue(Count{n}).with_queue("wide").submit();
        scheduler.enqueue(Count{n}).with_queue("narrow").submit();
    }
    scheduler.start();
    ASSERT_TRUE(succeeded.wait(24));
    EXPECT_EQ(most_wide, 3);
    EXPECT_EQ(most_narrow, 1);
}

TEST_F(EndToEnd, a_retry_is_due_its_delay_after_the_failure) {  // B005
    Scheduler scheduler(options());
    scheduler.on<Nudge>([](const Nudge&, JobContext& context) -> int {
        if (context.attempt() < 3) throw std::runtime_error("not yet");
        return context.attempt();
    });
    const JobId id = scheduler.enqueue(Nudge{}).with_backoff(Backoff::fixed(1h).jittered(Jitter::none())).submit().id();
    for (int attempt = 1; attempt <= 2; ++attempt) {
        EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
        const auto job = scheduler.find(id);
        EXPECT_EQ(job->state, State::pending);
        EXPECT_EQ(job->attempts, attempt);
        EXPECT_EQ(number("select count(*) from @schema@.attempt a join @schema@.scheduled s on s.first_id = a.id "
                         "where a.attempt = (select max(attempt) from @schema@.attempt) "
                         "and s.run_at - a.finished_at between interval '1 hour' and interval '1 hour 1 second' "
                         "and a.delay = interval '1 hour'"),
                  1);
        EXPECT_EQ(pawl::testing::make_due(scheduler), 1U);
    }
    EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
    EXPECT_EQ(scheduler.find(id)->state, State::succeeded);
    EXPECT_EQ(scheduler.find(id)->result, "3");
    EXPECT_EQ(scheduler.find(id)->attempts, 2);
    EXPECT_EQ(pawl::testing::drain(scheduler), 0U);
}

TEST_F(EndToEnd, the_gaps_between_runs_are_those_of_the_backoff) {  // B008, R12
    std::mutex mutex;
    std::vector<std::chrono::steady_clock::time_point> failed, began;
    Scheduler scheduler(options());
    scheduler.on<Nudge>([&](const Nudge&, JobContext& context) {
        const std::lock_guard lock(mutex);
        began.push_back(std::chrono::steady_clock::now());
        if (context.attempt() == 4) return;
        failed.push_back(std::chrono::steady_clock::now());
        throw std::runtime_error("not yet");
    });
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    scheduler.enqueue(Nudge{}).with_backoff(Backoff::list({50ms, 100ms, 200ms}).jittered(Jitter::none())).submit();
    ASSERT_TRUE(succeeded.wait());
    ASSERT_EQ(began.size(), 4U);
    EXPECT_GE(began[1] - failed[0], 50ms);
    EXPECT_GE(began[2] - failed[1], 100ms);
    EXPECT_GE(began[3] - failed[2], 200ms);
}

TEST_F(EndToEnd, used_up_attempts_end_among_the_dead_letters_with_a_clean_error) {  // B051
    Scheduler scheduler(options());
    scheduler.on<Nudge>([](const Nudge&) {
        try {
            try {
                throw std::runtime_error("connecting to host=db password=S3cr^t$@x failed");
            } catch (...) {
                std::throw_with_nested(std::runtime_error("opening postgresql://app:hunter2@db/shop"));
            }
        } catch (...) {
            std::throw_with_nested(std::runtime_error("charging failed"));
        }
    });
    const JobId id = scheduler.enqueue(Nudge{}).with_max_retries(2).submit().id();
    EXPECT_EQ(pawl::testing::drain(scheduler), 3U);

    const auto job = scheduler.find(id);
    EXPECT_EQ(job->state, State::failed);
    EXPECT_EQ(job->reason, Reason::exhausted);
    EXPECT_FALSE(job->discarded);
    EXPECT_EQ(job->attempts, 3);
    ASSERT_TRUE(job->error);
    EXPECT_EQ(job->error->message, "charging failed");
    EXPECT_EQ(job->error->causes.size(), 2U);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 3);
    EXPECT_EQ(number("select count(*) from @schema@.attempt a where a::text like '%S3cr%' or a::text like '%hunter2%'"),
              0);
    EXPECT_EQ(number("select count(*) from @schema@.done d where d::text like '%S3cr%' or d::text like '%hunter2%'"),
              0);
    EXPECT_EQ(scheduler.counts().failed, 1);
}

TEST_F(EndToEnd, snoozes_are_not_counted) {  // B014
    std::atomic<int> runs{};
    Scheduler scheduler(options());
    scheduler.on<Nudge>([&](const Nudge&) -> Reply<> {
        if (++runs <= 10) return Snooze{1h};
        throw std::runtime_error("once");
    });
    const JobId id = scheduler.enqueue(Nudge{})
                         .with_max_retries(2)
                         .with_backoff(Backoff::list({10min, 20min}).jittered(Jitter::none()))
                         .submit()
                         .id();
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
        EXPECT_EQ(scheduler.find(id)->attempts, 0);
        EXPECT_EQ(pawl::testing::make_due(scheduler), 1U);
    }
    EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
    EXPECT_EQ(scheduler.find(id)->attempts, 1);
    EXPECT_EQ(scheduler.find(id)->max_retries, 2);
    EXPECT_EQ(number("select count(*) from @schema@.attempt where delay = interval '10 minutes'"), 1);
    EXPECT_EQ(number("select count(*) from @schema@.attempt"), 1);
}

TEST_F(EndToEnd, what_a_handler_says_is_done) {
    struct Case {
        const char* name;
        State state;
        Reason reason;
        bool discarded;
        int attempts;
        std::size_t runs;
    };
    const std::vector<Case> cases{
        {"returns", State::succeeded, Reason::none, false, 0, 1},
        {"cancel returned", State::canceled, Reason::none, false, 0, 1},
        {"cancel thrown", State::canceled, Reason::none, false, 0, 1},
        {"discard", State::failed, Reason::discarded, true, 0, 1},
        {"permanent", State::failed, Reason::do_not_retry, false, 0, 1},
        {"retry after", State::failed, Reason::exhausted, false, 3, 3},
    };
    for (const Case& expected : cases) {
        SCOPED_TRACE(expected.name);
        Scheduler scheduler(options());
        scheduler.on<Note>([](const Note& note) -> Reply<> {
            if (note.text == "cancel returned") return Cancel{"not needed"};
            if (note.text == "cancel thrown") throw Cancel{"not needed"};
            if (note.text == "discard") throw Discard{"nobody cares"};
            if (note.text == "permanent") throw PermanentError("never");
            if (note.text == "retry after") throw RetryAfter{0s};
            return std::monostate{};
        });
        const JobId id = scheduler.enqueue(Note{expected.name}).with_max_retries(2).submit().id();
        EXPECT_EQ(pawl::testing::drain(scheduler), expected.runs);
        const auto job = scheduler.find(id);
        EXPECT_EQ(job->state, expected.state);
        EXPECT_EQ(job->discarded, expected.discarded);
        EXPECT_EQ(job->attempts, expected.attempts);
        EXPECT_EQ(job->reason, expected.reason);
    }
}

TEST_F(EndToEnd, a_payload_that_cannot_be_decoded_fails_alone) {  // B054
    std::atomic<int> runs{};
    Scheduler scheduler(options());
    scheduler.on<Count>([&](const Count&) { ++runs; });
    Heard<JobSucceeded> succeeded(scheduler);
    std::vector<JobId> bad;
    for (const char* payload : {R"("a bare string")", "null", "[]", R"({"n":"many"})", "{}", R"({"n":1e99})"}) {
        bad.push_back(number(std::string("select @schema@.enqueue('count', '") + payload + "')"));
    }
    const JobId good = number(R"(select @schema@.enqueue('count', '{"n":1}'))");
    scheduler.start();
    ASSERT_TRUE(succeeded.wait_of(good));
    for (const JobId id : bad) {
        EXPECT_TRUE(tests::eventually([&] { return scheduler.find(id)->attempts == 1; }));
        EXPECT_EQ(scheduler.find(id)->state, State::pending);
    }
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(
        number("select count(*) from @schema@.attempt where type like '%PayloadError%' and delay >= interval '1 min'"),
        static_cast<std::int64_t>(bad.size()));

    scheduler.stop();
    Scheduler later(options());
    later.on<Count>([](const Count&) {});
    for (int i = 0; i < 5; ++i) {
        (void)pawl::testing::make_due(later);
        (void)pawl::testing::drain(later);
    }
    for (const JobId id : bad) {
        EXPECT_EQ(later.find(id)->state, State::failed);
        EXPECT_EQ(later.find(id)->reason, Reason::payload);
    }
}

struct Bare {};

TEST_F(EndToEnd, whatever_is_thrown_ends_in_a_dead_letter_and_the_scheduler_goes_on) {  // B190, P28, A31
    Options options = this->options();
    options.queues = {{"default", 2}};
    Scheduler scheduler(options);
    scheduler.on<Note>([](const Note& note) {
        if (note.text == "runtime_error") throw std::runtime_error("plain");
        if (note.text == "int") throw 42;
        if (note.text == "text") throw "a literal";
        if (note.text == "string") throw std::string("a string");
        if (note.text == "bare") throw Bare{};
        if (note.text == "null pointer") throw static_cast<const char*>(nullptr);
        if (note.text == "exception_ptr") throw std::make_exception_ptr(1);
        if (note.text == "not utf-8") throw std::runtime_error("\xff\xfe broken \x80");
        if (note.text == "nul") throw std::runtime_error(std::string("a\0b", 3));
        if (note.text == "bad_alloc") throw std::bad_alloc();
        if (note.text == "huge") throw std::runtime_error(std::string(std::size_t{10} << 20U, 'x'));
        if (note.text == "thread exit") ::pthread_exit(nullptr);
    });
    Heard<JobDlq> dead(scheduler);
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    const std::vector<Note> notes{{"runtime_error"}, {"int"},       {"text"}, {"string"},    {"bare"}, {"null pointer"},
                                  {"exception_ptr"}, {"not utf-8"}, {"nul"},  {"bad_alloc"}, {"huge"}, {"thread exit"}};
    const auto ids = scheduler.enqueue_many(notes, {.max_retries = 0});
    ASSERT_TRUE(dead.wait(ids.size()));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        SCOPED_TRACE(notes[i].text);
        const auto job = scheduler.find(ids[i]);
        EXPECT_EQ(job->state, State::failed);
        ASSERT_TRUE(job->error);
        EXPECT_FALSE(job->error->type.empty());
        EXPECT_LT(job->error->message.size(), 20'000U);
    }
    // As many as there are threads, so that each still lives.
    (void)scheduler.enqueue_many({Note{"fine"}, Note{"fine"}, Note{"fine"}, Note{"fine"}});
    EXPECT_TRUE(succeeded.wait(4));
    EXPECT_EQ(dead.count(), ids.size());
}

class ThrowingPolicy final : public RetryPolicy {
public:
    [[nodiscard]] bool should_retry(int, const Failure&) const override { throw 1; }
    [[nodiscard]] Duration delay(int, const Failure&) const override { throw std::string("two"); }
};

class ThrowingSanitizer final : public ErrorSanitizer {
public:
    [[nodiscard]] ErrorRecord sanitize(const Failure&) const override { throw std::runtime_error("three"); }
};

class ThrowingSink final : public spdlog::sinks::sink {
public:
    void log(const spdlog::details::log_msg&) override { throw std::runtime_error("four"); }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
};

TEST_F(EndToEnd, hooks_that_throw_keep_no_job_from_its_end) {  // B190
    Options options = this->options();
    options.retry_policy = std::make_shared<ThrowingPolicy>();
    options.sanitizer = std::make_shared<ThrowingSanitizer>();
    options.logger = std::make_shared<spdlog::logger>("throwing", std::make_shared<ThrowingSink>());
    options.logger->set_error_handler([](const std::string&) {});
    options.backoff = Backoff::custom([](int) -> Duration { throw std::runtime_error("five"); });
    Scheduler scheduler(options);
    scheduler.on<Nudge>([](const Nudge&) { throw std::runtime_error("the error"); }).on_exhausted([](const Failure&) {
        throw std::runtime_error("six");
    });
    Heard<MisbehavingPolicy> policies(scheduler);
    Heard<MisbehavingHook> hooks(scheduler);
    const JobId id = scheduler.enqueue(Nudge{}).with_max_retries(1).submit().id();
    do {
        (void)pawl::testing::drain(scheduler);
    } while (pawl::testing::make_due(scheduler) > 0);
    EXPECT_EQ(scheduler.find(id)->state, State::failed);
    EXPECT_EQ(scheduler.find(id)->attempts, 2);
    EXPECT_EQ(scheduler.find(id)->reason, Reason::exhausted);
    EXPECT_GE(policies.count(), 1U);
    EXPECT_GE(hooks.count(), 1U);
}

TEST_F(EndToEnd, one_that_is_never_started_enqueues) {
    Options producer_options = options();
    producer_options.queues.clear();
    Scheduler producer(producer_options);
    const JobId id = producer.enqueue(Count{1}).submit().id();
    EXPECT_EQ(producer.find(id)->state, State::pending);
    EXPECT_EQ(producer.counts().ready, 1);
    EXPECT_TRUE(producer.stop().clean());
    EXPECT_THROW(producer.start(), ConfigError);
}

TEST_F(EndToEnd, a_handler_enqueues_with_its_own_scheduler) {
    std::atomic<int> sum{};
    Scheduler scheduler(options());
    scheduler.on<Count>([&](const Count& count) {
        sum += count.n;
        if (count.n > 1) scheduler.enqueue(Count{count.n - 1}).submit();
    });
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    scheduler.enqueue(Count{10}).submit();
    ASSERT_TRUE(succeeded.wait(10));
    EXPECT_EQ(sum, 55);
}

TEST_F(EndToEnd, a_job_exists_if_and_only_if_the_callers_transaction_commits) {
    std::atomic<int> last{};
    Scheduler scheduler(options());
    scheduler.on<Count>([&](const Count& count) { last = count.n; });
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    pqxx::connection connection{dsn()};
    JobId undone{};
    {
        pqxx::work transaction{connection};
        undone = scheduler.enqueue(Count{1}).submit(transaction).id();
        (void)scheduler.enqueue_many(transaction, std::vector<Count>{{2}, {3}});
        EXPECT_FALSE(scheduler.find(undone));
    }
    EXPECT_FALSE(scheduler.find(undone));
    EXPECT_EQ(number("select count(*) from @schema@.job"), 0);

    JobId done{};
    {
        pqxx::work transaction{connection};
        done = scheduler.enqueue(Count{4}).submit(transaction).id();
        transaction.commit();
    }
    ASSERT_TRUE(succeeded.wait_of(done));
    EXPECT_EQ(last, 4);
    EXPECT_EQ(number("select count(*) from @schema@.job"), 1);

    pqxx::work transaction{connection};
    transaction.commit();
    try {
        (void)scheduler.enqueue(Count{5}).submit(transaction);
        FAIL() << "a closed transaction was taken";
    } catch (const StoreError& error) {
        EXPECT_EQ(error.code(), ErrorCode::closed_transaction);
    }
    EXPECT_EQ(number("select count(*) from @schema@.job"), 1);
}

TEST_F(EndToEnd, jobs_of_kinds_without_a_handler_here_are_left_alone) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    const JobId other = scheduler.enqueue(Note{"for another service"}).submit().id();
    scheduler.enqueue(Count{1}).submit();
    EXPECT_EQ(pawl::testing::drain(scheduler), 1U);
    EXPECT_EQ(scheduler.find(other)->state, State::pending);
    EXPECT_EQ(scheduler.find(other)->attempts, 0);
}

TEST_F(EndToEnd, two_types_of_one_kind_are_refused) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    EXPECT_THROW(scheduler.on<Count>([](const Count&) {}), ConfigError);
    EXPECT_THROW(scheduler.on<OtherCount>([](const OtherCount&) {}), ConfigError);
    scheduler.start();
    EXPECT_THROW((void)scheduler.enqueue(OtherCount{}), ConfigError);
    EXPECT_THROW(scheduler.on<Note>([](const Note&) {}), ConfigError);
    EXPECT_THROW(scheduler.start(), ConfigError);
}

TEST_F(EndToEnd, a_result_that_cannot_be_kept_never_runs_the_body_again) {  // B047
    std::atomic<int> runs{};
    Options options = this->options();
    options.max_result = 100;
    Scheduler scheduler(options);
    scheduler.on<Note>([&](const Note& note) {
        ++runs;
        return note.text == "large" ? std::string(1000, 'x') : std::string("\xff not utf-8");
    });
    const JobId large = scheduler.enqueue(Note{"large"}).submit().id();
    const JobId broken = scheduler.enqueue(Note{"broken"}).submit().id();
    EXPECT_EQ(pawl::testing::drain(scheduler), 2U);
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(scheduler.find(large)->state, State::succeeded);
    EXPECT_EQ(scheduler.find(broken)->state, State::succeeded);
    EXPECT_LE(scheduler.find(large)->result->size(), 200U);
}

}  // namespace
