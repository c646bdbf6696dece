#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <pawl/job.hpp>

#include "store/pg/connection.hpp"

namespace pawl::tests {

/// What the worker processes wrote down, apart from the library.
struct Written {
    /// By (id, token).
    std::map<std::pair<JobId, ClaimToken>, int> begun;
    std::map<std::pair<JobId, ClaimToken>, int> returned;
    std::map<std::pair<JobId, ClaimToken>, int> stale;
    std::map<JobId, int> succeeded;
    std::map<JobId, int> failed;
};

[[nodiscard]] Written read_ledger(const std::string& path);

/// The processes that began one of these jobs.
[[nodiscard]] std::set<pid_t> pids_that_began(const std::string& path, const std::set<JobId>& jobs);

/// What was asked for, and what was done to whom.
struct Asked {
    std::set<JobId> committed;
    std::set<JobId> rolled_back;
    /// Redriven, so that they may have ended more than once.
    std::map<JobId, int> redriven;
    int deaths{};
};

/// Everything that must hold once nothing runs any more, whatever happened. Each broken one is a line, with the job's history.
[[nodiscard]] std::vector<std::string> broken_invariants(store::pg::Connection& connection, const std::string& schema,
                                                         const Written& written, const Asked& asked);

}  // namespace pawl::tests
