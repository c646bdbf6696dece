#pragma once

#include <memory>
#include <string>

#include "model/claimed_job.hpp"
#include "worker/stop_state.hpp"

namespace pawl::tests {

inline std::shared_ptr<model::ClaimedJob> claimed_job(JobId id, std::string queue = "default") {
    auto job = std::make_shared<model::ClaimedJob>();
    job->slot = {.token = 900, .position = 0, .id = id};
    job->kind = "test.kind";
    job->queue = std::move(queue);
    return job;
}

inline std::shared_ptr<worker::StopState> started_run(JobId id = 1) {
    return std::make_shared<worker::StopState>(claimed_job(id), std::chrono::steady_clock::now());
}

}  // namespace pawl::tests
