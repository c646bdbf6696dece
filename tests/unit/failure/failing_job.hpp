#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "failure/capture.hpp"
#include "failure/decide.hpp"

// What the tests of the failure layer share: one job, and the ways in which its runs end.

namespace pawl::failure::testing {

/// A source that always draws the same.
class Constant final : public RandomSource {
public:
    explicit Constant(double always) : value(always) {}
    double uniform() override { return value; }

    double value;
};

template <class F>
std::exception_ptr thrown_by(F f) {
    try {
        f();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

template <class E>
std::exception_ptr thrown(E error) {
    return std::make_exception_ptr(std::move(error));
}

/// The outer error with the inner one as its cause.
template <class Outer>
std::exception_ptr nested(Outer outer, const std::exception_ptr& inner) {
    return thrown_by([&] {
        try {
            std::rethrow_exception(inner);
        } catch (...) {
            std::throw_with_nested(std::move(outer));
        }
    });
}

inline model::ClaimedJob a_job() {
    model::ClaimedJob job;
    job.slot = {7, 0, 42};
    job.kind = "billing.charge_card";
    job.queue = "default";
    job.payload = R"({"order_id":42})";
    return job;
}

inline std::shared_ptr<const Failure> captured(std::exception_ptr error, const Classification& classification = {},
                                               const model::ClaimedJob& job = a_job()) {
    return capture(std::move(error), std::make_shared<const model::ClaimedJob>(job),
                   {Time(std::chrono::seconds(100)), Time(std::chrono::seconds(101))}, classification);
}

/// One job under one policy, whose decisions are asked for.
struct Trial {
    model::ClaimedJob job = a_job();
    FailurePolicy policy;
    Notes notes;
    Constant random{0};

    Trial() {
        policy.max_retries = 4;
        policy.backoff = Backoff::exponential(std::chrono::seconds(1)).jittered(Jitter::none());
    }

    Rules& rules() { return policy.rules; }

    model::Decision decide(decltype(model::Outcome::what) what) {
        notes = {};
        return failure::decide(job, {std::move(what), Time(std::chrono::seconds(100)), std::chrono::seconds(1)}, policy,
                               random, notes);
    }

    std::shared_ptr<const Failure> capture(std::exception_ptr error) {
        return captured(std::move(error), policy.classification ? *policy.classification : Classification(), job);
    }

    template <class E>
    model::Decision threw(E error) {
        return threw_pointer(thrown(std::move(error)));
    }
    model::Decision threw_pointer(std::exception_ptr error) { return decide(model::Threw{capture(std::move(error))}); }

    /// What the callbacks did that the last decision owes.
    Notes& run_owed() {
        run_hooks(notes);
        return notes;
    }
};

}  // namespace pawl::failure::testing
