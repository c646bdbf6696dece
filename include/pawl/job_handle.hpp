#pragma once

#include <string>
#include <utility>

#include <pawl/job.hpp>

namespace pawl {

/// What is known about a job right after it was enqueued.
///
/// In a caller's transaction the job exists once that commits, and never did when it rolls back.
///
/// **Threads**: a value; const members are safe concurrently.
class JobHandle {
public:
    JobHandle(JobId id, std::string kind) : id_(id), kind_(std::move(kind)) {}

    /// For `Scheduler::find`, logs and the caller's own tables.
    [[nodiscard]] JobId id() const noexcept { return id_; }
    [[nodiscard]] const std::string& kind() const noexcept { return kind_; }

    friend bool operator==(const JobHandle&, const JobHandle&) = default;

private:
    JobId id_;
    std::string kind_;
};

}  // namespace pawl
