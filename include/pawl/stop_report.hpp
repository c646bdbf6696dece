#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pawl/job.hpp>

namespace pawl {

/// What became of the jobs that a scheduler held when it was stopped.
struct StopReport {
    enum class Fate : std::uint8_t {
        finished,  ///< its outcome is written
        released,  ///< given back uncounted; another node runs it
        left,      ///< neither could be done; the others will rescue it once this node has expired
    };

    struct Job {
        JobId id{};
        std::string kind;
        Fate fate{Fate::finished};
        /// For `released` and `left`.
        std::string why;
    };

    std::vector<Job> jobs;
    /// Handlers that did not come back within the hard grace. Their threads still run: the process should exit.
    std::vector<JobId> still_running;

    /// Nothing was left behind and nothing runs on.
    [[nodiscard]] bool clean() const noexcept {
        if (!still_running.empty()) return false;
        for (const Job& job : jobs) {
            if (job.fate == Fate::left) return false;
        }
        return true;
    }
};

}  // namespace pawl
