#pragma once

#include <chrono>
#include <memory>

#include <spdlog/logger.h>

#include <pawl/job_context.hpp>

#include "worker/job_context.hpp"

namespace pawl::test {

/// The context of a run of job 42.
struct RunContext {
    static std::shared_ptr<const model::ClaimedJob> job_42() {
        auto job = std::make_shared<model::ClaimedJob>();
        job->slot.id = 42;
        return job;
    }

    const std::shared_ptr<const model::ClaimedJob> job = job_42();
    worker::StopState stop{job, std::chrono::steady_clock::now()};
    spdlog::logger logger{"test"};
    JobContext::Run run{*job, stop, logger};
    JobContext context{run};
};

}  // namespace pawl::test
