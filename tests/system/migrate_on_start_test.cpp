#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/migrate.hpp>

#include "support/heard.hpp"
#include "support/processes.hpp"
#include "support/system.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::Count;
using tests::Heard;

class MigrateOnStart : public tests::SystemTest {
protected:
    MigrateOnStart() : SystemTest(false) {}

    [[nodiscard]] std::string refusal() {
        Scheduler scheduler(options());
        scheduler.on<Count>([](const Count&) {});
        try {
            scheduler.start();
        } catch (const StoreError& error) {
            EXPECT_EQ(error.code(), ErrorCode::schema_mismatch);
            return error.what();
        }
        ADD_FAILURE() << "it started";
        return {};
    }
};

TEST_F(MigrateOnStart, ten_processes_start_at_once_on_an_empty_database) {  // B112
    std::vector<tests::Worker> workers;
    workers.reserve(10);
    for (int i = 0; i < 10; ++i) workers.emplace_back(dsn(), schema(), std::vector<std::string>{"--migrate"});
    for (tests::Worker& worker : workers) EXPECT_EQ(worker.line(), "started");
    for (tests::Worker& worker : workers) worker.signal(SIGTERM);
    for (tests::Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(number("select count(*) from @schema@.node where state = 'stopped'"), 10);
}

TEST_F(MigrateOnStart, a_schema_that_is_missing_empty_or_unknown_is_refused_with_what_to_do) {  // B187
    const auto what_to_do = AllOf(HasSubstr("pawl::migrate"), HasSubstr("migrate_on_start"));
    EXPECT_THAT(refusal(), AllOf(HasSubstr("does not exist"), what_to_do));
    sql("create schema @schema@");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("no tables"), what_to_do));

    migrate(dsn(), schema());
    sql("insert into @schema@.schema_version (version, name) values (1000, 'of a later release')");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("version 1000"), HasSubstr("deploy the newer release")));
    sql("delete from @schema@.schema_version where version = 1000");
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    scheduler.start();
}

TEST_F(MigrateOnStart, it_migrates_when_asked_and_once_is_enough) {
    for (int i = 0; i < 2; ++i) {
        Options migrating = options();
        migrating.migrate_on_start = true;
        Scheduler scheduler(migrating);
        scheduler.on<Count>([](const Count&) {});
        Heard<JobSucceeded> succeeded(scheduler);
        scheduler.start();
        scheduler.enqueue(Count{i}).submit();
        EXPECT_TRUE(succeeded.wait());
    }
}

TEST_F(MigrateOnStart, a_start_that_was_refused_can_be_repeated) {
    Scheduler scheduler(options());
    scheduler.on<Count>([](const Count&) {});
    EXPECT_THROW(scheduler.start(), StoreError);
    migrate(dsn(), schema());
    Heard<JobSucceeded> succeeded(scheduler);
    scheduler.start();
    scheduler.enqueue(Count{1}).submit();
    EXPECT_TRUE(succeeded.wait());
}

}  // namespace
