#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include "store/pg/params.hpp"
#include "support/store.hpp"

namespace {

using namespace pawl;
using model::Step;
using model::StepState;
using store::pg::Params;

class Steps : public tests::StoreTest {
protected:
    tests::JobPtr claimed_job() {
        enqueue_one();
        return claim().jobs.at(0);
    }
    /// As a rescue and the next claim would leave it: the same job under another claim.
    tests::JobPtr claimed_again(const tests::JobPtr& job) {
        EXPECT_EQ(settle(job, model::Verdict::release), std::vector<bool>{true});
        return claim().jobs.at(0);
    }
    StepState begin(const tests::JobPtr& job) { return store().begin_step(nullptr, {job->slot, "charge"}).state; }
};

TEST_F(Steps, are_begun_done_and_found_done_with_their_result) {
    const auto job = claimed_job();
    EXPECT_EQ(begin(job), StepState::begun);
    EXPECT_TRUE(store().finish_step(nullptr, {job->slot, "charge"}, "{\"receipt\": 7}"));
    const auto again = store().begin_step(nullptr, {claimed_again(job)->slot, "charge"});
    EXPECT_EQ(again.state, StepState::done);
    EXPECT_EQ(again.result, "{\"receipt\": 7}");
}

TEST_F(Steps, are_in_doubt_when_begun_and_not_done) {
    const auto job = claimed_job();
    EXPECT_EQ(begin(job), StepState::begun);
    const auto later = claimed_again(job);
    const auto doubt = store().begin_step(nullptr, {later->slot, "charge"});
    EXPECT_EQ(doubt.state, StepState::in_doubt);
    EXPECT_EQ(doubt.begun_by, job->slot.token);

    EXPECT_EQ(store().begin_step(nullptr, {later->slot, "charge", doubt.begun_by}).state, StepState::begun);
    EXPECT_FALSE(store().finish_step(nullptr, {job->slot, "charge"}, std::nullopt)) << "it was taken over";
    EXPECT_TRUE(store().finish_step(nullptr, {later->slot, "charge"}, std::nullopt));
}

TEST_F(Steps, that_were_undone_are_begun_anew) {
    const auto job = claimed_job();
    EXPECT_EQ(begin(job), StepState::begun);
    store().forget_step({job->slot, "charge"});
    EXPECT_EQ(begin(claimed_again(job)), StepState::begun);
}

TEST_F(Steps, of_a_claim_that_is_over_are_not_begun) {
    const auto job = claimed_job();
    EXPECT_EQ(settle(job, model::Verdict::complete), std::vector<bool>{true});
    EXPECT_EQ(begin(job), StepState::stale);
    EXPECT_EQ(number("select count(*) from @schema@.step"), 0);
}

TEST_F(Steps, that_were_done_under_a_claim_that_is_over_meanwhile_are_kept_and_said_to_be_stale) {
    const auto job = claimed_job();
    EXPECT_EQ(begin(job), StepState::begun);
    const auto later = claimed_again(job);
    EXPECT_FALSE(store().finish_step(nullptr, {job->slot, "charge"}, "1"));
    EXPECT_EQ(begin(later), StepState::done);
}

TEST_F(Steps, in_a_callers_transaction_come_and_go_with_it) {
    const auto job = claimed_job();
    pqxx::connection connection(dsn());
    {
        pqxx::work transaction(connection);
        EXPECT_EQ(store().begin_step(&transaction, {job->slot, "charge"}).state, StepState::begun);
        EXPECT_TRUE(store().finish_step(&transaction, {job->slot, "charge"}, "1"));
    }
    EXPECT_EQ(number("select count(*) from @schema@.step"), 0);
    {
        pqxx::work transaction(connection);
        EXPECT_EQ(store().begin_step(&transaction, {job->slot, "charge"}).state, StepState::begun);
        EXPECT_TRUE(store().finish_step(&transaction, {job->slot, "charge"}, "1"));
        transaction.commit();
    }
    EXPECT_EQ(begin(job), StepState::done);
}

TEST_F(Steps, in_a_callers_transaction_let_other_jobs_of_the_claim_settle) {
    enqueue(2);
    const auto jobs = claim().jobs;
    ASSERT_EQ(jobs.size(), 2U);
    ASSERT_EQ(jobs[0]->slot.token, jobs[1]->slot.token);
    pqxx::connection connection(dsn());
    pqxx::work transaction(connection);
    EXPECT_EQ(store().begin_step(&transaction, {jobs[0]->slot, "charge"}).state, StepState::begun);
    EXPECT_EQ(settle(jobs[1], model::Verdict::complete), std::vector<bool>{true});
    transaction.commit();
    EXPECT_EQ(begin(jobs[0]), StepState::in_doubt);
}

TEST_F(Steps, in_a_callers_transaction_keep_the_job_from_being_taken_over) {
    const auto job = claimed_job();
    const store::NodeId other = register_node();
    pqxx::connection connection(dsn());
    pqxx::work transaction(connection);
    EXPECT_EQ(store().begin_step(&transaction, {job->slot, "charge"}).state, StepState::begun);
    let_expire(node());
    for (int round = 0; round < 2; ++round) {
        EXPECT_TRUE(store().rescue({.node = other, .limit = 10, .may_expire = true}).claims.empty());
    }
    transaction.commit();
    EXPECT_EQ(store().rescue({.node = other, .limit = 10, .may_expire = true}).claims.size(), 1U);
}

TEST_F(Steps, go_with_their_job_when_it_is_purged) {
    const auto job = claimed_job();
    EXPECT_EQ(begin(job), StepState::begun);
    settle(job, model::Verdict::complete);
    static_cast<void>(store().purge({.retention = {.succeeded = Duration()}, .after = 0, .limit = 100}));
    EXPECT_EQ(number("select count(*) from @schema@.step"), 0);
}

}  // namespace
