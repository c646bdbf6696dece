#include "worker/steps.hpp"

#include <deque>
#include <optional>
#include <string>
#include <variant>

#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <pawl/detail/step.hpp>
#include <pawl/errors.hpp>

#include "unit/worker/claimed_job.hpp"
#include "worker/job_context.hpp"

namespace {

using namespace pawl;
using model::StepBegun;
using model::StepState;

const StoreError reply_lost(ErrorCode::in_doubt, "the reply was lost", {.transient = true});
const StoreError not_sent(ErrorCode::store_unavailable, "not sent", {.transient = true});

/// Answers from a list, as a database behind a bad network would.
class AnsweredSteps final : public worker::Steps {
public:
    StepBegun begin(pqxx::dbtransaction*, const model::Step&) override {
        const auto answer = answers.front();
        answers.pop_front();
        if (const auto* error = std::get_if<StoreError>(&answer)) throw *error;
        return std::get<StepBegun>(answer);
    }
    bool finish(pqxx::dbtransaction*, const model::Step&, const std::optional<std::string>&) override {
        ++finished;
        return true;
    }
    void forget(const model::Step&) override {}

    std::deque<std::variant<StepBegun, StoreError>> answers;
    int finished = 0;
};

struct LostReplies : testing::Test {
    const std::shared_ptr<const model::ClaimedJob> job = tests::claimed_job(1);
    const worker::StopState stop{job, std::chrono::steady_clock::now()};
    spdlog::logger logger{"silent"};
    AnsweredSteps steps;
    JobRun run{.job = *job, .stop = stop, .logger = logger, .steps = &steps};

    [[nodiscard]] StepBegun begun_by(ClaimToken token) const {
        return {.state = StepState::in_doubt, .begun_by = token};
    }
};

TEST_F(LostReplies, to_the_beginning_of_a_step_leave_no_doubt) {
    steps.answers = {reply_lost, begun_by(job->slot.token)};
    detail::OpenStep step(run, "charge", nullptr);
    EXPECT_EQ(step.doubt(), nullptr);
    int runs = 0;
    const auto charge = [&] { ++runs; };
    step.run(charge);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(steps.finished, 1);
}

TEST_F(LostReplies, do_not_hide_that_an_earlier_run_left_it_in_doubt) {
    steps.answers = {reply_lost, begun_by(job->slot.token - 1)};
    EXPECT_NE(detail::OpenStep(run, "charge", nullptr).doubt(), nullptr);
}

TEST_F(LostReplies, do_not_hide_that_this_run_had_begun_it_before) {
    steps.answers = {StepBegun{.state = StepState::begun}, reply_lost, begun_by(job->slot.token), reply_lost,
                     begun_by(job->slot.token)};
    EXPECT_EQ(detail::OpenStep(run, "charge", nullptr).doubt(), nullptr);
    EXPECT_NE(detail::OpenStep(run, "charge", nullptr).doubt(), nullptr);
    EXPECT_EQ(detail::OpenStep(run, "book", nullptr).doubt(), nullptr) << "another step";
}

TEST_F(LostReplies, are_asked_about_once_and_only_when_it_may_have_been_written) {
    steps.answers = {reply_lost, not_sent};
    EXPECT_THROW(detail::OpenStep(run, "charge", nullptr), StoreError);
    steps.answers = {not_sent, begun_by(job->slot.token)};
    EXPECT_THROW(detail::OpenStep(run, "charge", nullptr), StoreError);
    EXPECT_EQ(steps.answers.size(), 1U);
}

}  // namespace
