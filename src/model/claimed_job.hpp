#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/job.hpp>

namespace pawl::model {

using NodeId = std::int64_t;

/// Which id of which claim: what every owner write is fenced by.
struct ClaimSlot {
    ClaimToken token{};
    /// Position of the id in the claim's arrays, from 0.
    int position{};
    JobId id{};
};

/// From this many losses in company on, a job is a suspect. One may be bad luck: a machine that goes takes hundreds of jobs
/// with it, which may all run beside each other again. The index ready_suspect and the claim statements say the same.
inline constexpr int suspect_from = 2;

/// What changes about a job, and travels from place to place with its id.
struct JobFacts {
    int queue{};  ///< interned
    int kind{};   ///< interned
    Priority priority{Priority::normal};
    int attempts{};  ///< counted failures so far
    int crashes{};   ///< losses of its worker that were charged to it
    int losses{};    ///< those since its last counted outcome that were not, because it was in company

    /// To be run alone, so that the next loss tells.
    [[nodiscard]] bool suspect() const noexcept { return losses >= suspect_from; }
};

/// One job of a claim, as it is handed to a worker.
struct ClaimedJob {
    ClaimSlot slot;
    /// The node that the claim was made for: under another identity it must not be run.
    NodeId node{};
    JobFacts facts;
    std::string kind;
    std::string queue;
    std::string payload;
    int payload_version{};
    std::optional<int> max_retries;
    /// In the stored notation (model/backoff_text).
    std::optional<std::string> backoff;
    std::optional<Duration> timeout;
    std::vector<std::string> tags;
    std::map<std::string, std::string> params;
    /// Kinds of the jobs that follow, by the way in which this one ends.
    std::optional<std::string> on_failure;
    std::optional<std::string> on_success;
    Time created_at{};
    Time run_at{};
    /// Failures so far by the key of the retry rule that matched them; only filled when `attempts` is above zero.
    std::map<std::string, int> rule_counts;

    /// Which run this is: 1 on the first.
    [[nodiscard]] int attempt() const noexcept {
        return facts.attempts == std::numeric_limits<int>::max() ? facts.attempts : facts.attempts + 1;
    }
};

}  // namespace pawl::model
