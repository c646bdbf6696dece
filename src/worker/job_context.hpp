#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <pawl/job_context.hpp>

#include "worker/steps.hpp"
#include "worker/stop_state.hpp"

namespace pawl {

/// What a JobContext looks at, on the stack of the worker's thread.
struct JobRun {
    const model::ClaimedJob& job;
    const worker::StopState& stop;
    spdlog::logger& logger;
    int max_retries = 0;
    Time started_at{};
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    /// Null where there is no database.
    worker::Steps* steps = nullptr;
    /// Those that this run has begun. Confined to the thread that runs the handler.
    mutable std::set<std::string, std::less<>> begun_steps{};
};

}  // namespace pawl
