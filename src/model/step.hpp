#pragma once

#include <optional>
#include <string>

#include <pawl/job.hpp>

#include "model/claimed_job.hpp"

namespace pawl::model {

/// A named part of a job that must be done once.
struct Step {
    ClaimSlot slot;
    std::string name;
    /// Takes it over from this claim, which left it in doubt; none: it begins.
    std::optional<ClaimToken> begun_by{};
};

enum class StepState : unsigned char {
    begun,     ///< ours to do
    done,      ///< by this run or an earlier one
    in_doubt,  ///< begun, and nobody knows what became of it
    stale,     ///< the claim no longer holds the job: nothing was written
};

struct StepBegun {
    StepState state{};
    /// For `done` and `in_doubt`.
    ClaimToken begun_by{};
    /// For `done`: JSON text.
    std::optional<std::string> result{};
};

}  // namespace pawl::model
