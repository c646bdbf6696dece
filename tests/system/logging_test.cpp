#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>

#include "support/heard.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::Count;
using tests::Heard;
using tests::Note;

class Logging : public tests::SystemTest {
protected:
    /// Everything that is written, from debug on.
    [[nodiscard]] Options logged() {
        Options logged = options();
        const spdlog::sinks_init_list sinks{std::make_shared<spdlog::sinks::ostream_sink_mt>(text_),
                                            std::make_shared<tests::SearchedSink>(tests::leaks())};
        logged.logger = std::make_shared<spdlog::logger>("captured", sinks);
        logged.logger->set_pattern("%l %v");
        logged.logger->set_level(spdlog::level::trace);
        return logged;
    }

    /// Only while nobody writes.
    [[nodiscard]] std::string text() const { return text_.str(); }
    [[nodiscard]] std::vector<std::string> lines_with(const std::string& wanted) const {
        std::vector<std::string> found;
        std::istringstream lines(text());
        for (std::string line; std::getline(lines, line);) {
            if (line.find(wanted) != std::string::npos) found.push_back(line);
        }
        return found;
    }

private:
    std::ostringstream text_;
};

TEST_F(Logging, each_failure_is_one_line_with_job_kind_attempt_and_node) {  // B046
    JobId id{};
    std::int64_t node{};
    {
        Scheduler scheduler(logged());
        scheduler.on<Count>([](const Count&) { throw std::runtime_error("the gateway is busy"); });
        Heard<JobDlq> dead(scheduler);
        id = scheduler.enqueue(Count{1}).with_max_retries(1).submit().id();
        scheduler.start();
        ASSERT_TRUE(dead.wait());
        node = dead.all().front().node;
    }
    const auto failures = lines_with("the gateway is busy");
    ASSERT_EQ(failures.size(), 2U) << text();
    const std::string job = std::to_string(id);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_THAT(failures[i],
                    AllOf(HasSubstr("job=" + job), HasSubstr("kind=count"), HasSubstr("node=" + std::to_string(node)),
                          HasSubstr("attempt=" + std::to_string(i + 1))));
    }
    EXPECT_THAT(failures[0], ::testing::StartsWith("warning"));
    EXPECT_THAT(failures[1], ::testing::StartsWith("error"));
}

TEST_F(Logging, never_holds_payloads_results_or_secrets) {  // B048, B051
    {
        Scheduler scheduler(logged());
        scheduler.on<Note>([](const Note& note, JobContext& context) -> std::string {
            if (context.attempt() == 1) {
                try {
                    throw std::runtime_error("inner password=planted-inner");
                } catch (...) {
                    std::throw_with_nested(std::runtime_error("https://user:planted-outer@host/ refused"));
                }
            }
            if (note.text == "planted-payload-2") throw Cancel{"token=planted-reason"};
            return "planted-result";
        });
        Heard<JobSucceeded> succeeded(scheduler);
        Heard<JobCanceled> canceled(scheduler);
        (void)scheduler.enqueue_many({Note{"planted-payload-1"}, Note{"planted-payload-2"}},
                                     {.params = {{"key", "planted-param"}}});
        (void)number(R"(select @schema@.enqueue('note', '{"text":["planted-undecodable"]}'))");
        scheduler.start();
        ASSERT_TRUE(succeeded.wait());
        ASSERT_TRUE(canceled.wait());
        ASSERT_TRUE(tests::eventually([&] { return number("select count(*) from @schema@.attempt") == 3; }));
    }
    EXPECT_THAT(text(), AllOf(HasSubstr("refused"), Not(HasSubstr("planted"))));
}

TEST_F(Logging, a_connection_that_fails_does_not_show_its_password) {  // B048
    for (const char* connection : {"host=/nowhere-at-all user=app password='S3cr^t$@x' connect_timeout=2",
                                   "postgresql://app:S3cr%5Et%24%40x@127.0.0.1:1/shop?connect_timeout=2",
                                   "host=/nowhere password='S3cr^t$@x' nonsense"}) {
        SCOPED_TRACE(connection);
        std::string said;
        try {
            Options options = logged();
            options.connection = connection;
            Scheduler scheduler(options);
            scheduler.on<Count>([](const Count&) {});
            scheduler.start();
            ADD_FAILURE() << "it connected";
        } catch (const Error& error) {
            said = error.what();
        }
        EXPECT_FALSE(said.empty());
        EXPECT_THAT(said + text(), AllOf(Not(HasSubstr("S3cr")), Not(HasSubstr("t$@x")), Not(HasSubstr("%24%40x"))));
    }
}

}  // namespace
