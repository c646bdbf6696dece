#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pawl/backoff.hpp>
#include <pawl/clock.hpp>
#include <pawl/job.hpp>

namespace pawl {

/// What `JobBuilder` says about one job, for calls that take many. Bounds and meanings are those of its members.
struct EnqueueOptions {
    std::string queue{"default"};
    Priority priority{Priority::normal};
    /// None: what the kind, or else the scheduler that runs the job, says.
    std::optional<int> max_retries{};
    /// None: as above.
    std::optional<Backoff> backoff{};
    /// None: as above. `no_timeout` for none at all.
    std::optional<Duration> timeout{};
    std::vector<std::string> tags{};
    std::map<std::string, std::string> params{};
    /// Due after this long, by the database's clock. None: now. Not together with `run_at`.
    std::optional<Duration> delay{};
    /// Due at this time; one that has passed means now.
    std::optional<Time> run_at{};
    /// Follow-ups: kinds of jobs that are enqueued with the end of this one. None: there is none.
    std::optional<std::string> on_failure{};
    std::optional<std::string> on_success{};
};

}  // namespace pawl
