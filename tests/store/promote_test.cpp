#include <algorithm>
#include <future>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include "support/store.hpp"

namespace pawl::store {
namespace {

using namespace std::chrono_literals;
using pg::Params;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::job_spec;

class Promote : public tests::StoreTest {
protected:
    static model::JobSpec in(Duration delay) {
        return job_spec([&](auto& spec) { spec.due = delay; });
    }
    /// As the clock would, without waiting.
    void make_due(JobId id, std::string_view ago = "1 second") {
        sql("update @schema@.scheduled set run_at = clock_timestamp() - $2::interval where first_id = $1",
            Params{}.add(id).add(ago));
    }
};

TEST_F(Promote, finds_nothing_where_nothing_is_scheduled) {
    enqueue(3);
    const Promoted promoted = store().promote(100);
    EXPECT_EQ(promoted.moved, 0);
    EXPECT_FALSE(promoted.next_due);
}

TEST_F(Promote, moves_what_is_due_and_tells_when_the_next_one_is) {
    const JobId due = enqueue_one(in(1h));
    const JobId soon = enqueue_one(in(10min));
    const JobId later = enqueue_one(in(2h));
    make_due(due);
    const Promoted promoted = store().promote(100);
    EXPECT_EQ(promoted.moved, 1);
    ASSERT_TRUE(promoted.next_due);
    EXPECT_LE(*promoted.next_due, 10min);
    EXPECT_GT(*promoted.next_due, 9min);
    EXPECT_EQ(place_of(due), "ready");
    EXPECT_EQ(place_of(soon), "scheduled");
    EXPECT_EQ(place_of(later), "scheduled");
    EXPECT_THAT(tests::ids_of(claim()), ElementsAre(due));
}

TEST_F(Promote, keeps_what_is_known_about_the_job) {
    const JobId id = enqueue_one(job_spec([](auto& spec) {
        spec.due = Duration(1h);
        spec.priority = Priority::low;
    }));
    sql("update @schema@.scheduled set attempts = 4, crashes = 2, losses = 1");
    make_due(id, "10 minutes");
    const Time run_at = store().find(id)->run_at.value();
    EXPECT_EQ(store().promote(1).moved, 1);
    EXPECT_EQ(store().find(id)->run_at, run_at);
    const auto job = claim().jobs.at(0);
    EXPECT_EQ(job->facts.attempts, 4);
    EXPECT_EQ(job->facts.crashes, 2);
    EXPECT_EQ(job->facts.losses, 1);
    EXPECT_EQ(job->facts.priority, Priority::low);
}

TEST_F(Promote, moves_ranges_as_a_whole) {
    const std::vector<JobId> ids = enqueue(250, in(1h));
    for (const JobId first : {ids[0], ids[100], ids[200]}) make_due(first);
    EXPECT_EQ(store().promote(100).moved, 3);
    EXPECT_EQ(store().counts(std::nullopt).ready, 250);
    EXPECT_EQ(store().counts(std::nullopt).scheduled, 0);
}

TEST_F(Promote, goes_on_in_batches_the_oldest_first) {
    std::vector<JobId> ids;
    for (int i = 0; i < 7; ++i) ids.push_back(enqueue_one(in(1h)));
    for (std::size_t i = 0; i < ids.size(); ++i) make_due(ids[i], std::to_string(i + 1) + " minutes");
    EXPECT_EQ(store().promote(3).moved, 3);
    std::vector<JobId> oldest = tests::ids_of(claim());
    EXPECT_THAT(oldest, ElementsAre(ids[6], ids[5], ids[4]));
    EXPECT_EQ(store().promote(3).moved, 3);
    EXPECT_EQ(store().promote(3).moved, 1);
    EXPECT_EQ(store().promote(3).moved, 0);
}

TEST_F(Promote, by_two_at_once_moves_each_job_once) {
    constexpr int jobs = 200;
    for (int i = 0; i < jobs; ++i) enqueue_one(in(1h));
    sql("update @schema@.scheduled set run_at = clock_timestamp() - interval '1 second'");
    std::vector<std::future<std::int64_t>> rounds;
    for (int i = 0; i < 3; ++i) {
        rounds.push_back(std::async(std::launch::async, [&] {
            const auto own = new_store();
            std::int64_t moved = 0;
            for (std::int64_t now = 1; now > 0; moved += now) now = own->promote(7).moved;
            return moved;
        }));
    }
    std::int64_t total = 0;
    for (auto& round : rounds) total += round.get();
    // One that met the other's locks may have stopped early, never the last one.
    EXPECT_EQ(total + store().promote(1000).moved, jobs);
    EXPECT_EQ(store().counts(std::nullopt).ready, jobs);
    EXPECT_THAT(store().verify(), IsEmpty());
}

TEST_F(Promote, passes_over_what_somebody_else_moves) {
    const JobId locked = enqueue_one(in(1h));
    const JobId free = enqueue_one(in(1h));
    make_due(locked);
    make_due(free);
    pqxx::connection connection(dsn());
    {
        pqxx::work work(connection);
        work.exec(pg::with_schema(
            "select from @schema@.scheduled where first_id = " + std::to_string(locked) + " for update", schema()));
        EXPECT_EQ(store().promote(10).moved, 1);
        EXPECT_EQ(place_of(free), "ready");
    }
    EXPECT_EQ(store().promote(10).moved, 1);
}

TEST_F(Promote, wakes_those_who_sleep_at_the_queue) {
    const JobId id = enqueue_one(in(1h));
    make_due(id);
    const auto listener = store().listen();
    EXPECT_TRUE(listener->wait(0ms).reconnected);
    const std::vector<int> asleep{queue_id()};
    store().announce_sleep({node(), asleep, std::nullopt});
    EXPECT_EQ(store().promote(10).moved, 1);
    EXPECT_THAT(listener->wait(10s).queues, ElementsAre(queue_id()));
}

}  // namespace
}  // namespace pawl::store
