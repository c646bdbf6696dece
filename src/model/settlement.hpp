#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <pawl/clock.hpp>

#include "model/claimed_job.hpp"
#include "model/decision.hpp"

namespace pawl::model {

/// A decided run on its way into the store and, once applied, to the listeners.
struct Settlement {
    std::shared_ptr<const ClaimedJob> job;
    Decision decision;
    std::optional<Time> started_at;
    std::chrono::microseconds duration{};
};

}  // namespace pawl::model
