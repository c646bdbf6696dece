#pragma once

#include <optional>
#include <string>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/export.hpp>
#include <pawl/job.hpp>

namespace pawl {

/// Who acts on jobs and queues from outside, and why. Kept with them, told by the events, and shown to people. Both may be
/// empty; UTF-8 without control characters, at most 200 and 2,000 bytes.
struct ActOptions {
    std::string by{};
    std::string why{};
};

/// How a job is put back.
struct RedriveOptions {
    std::string by{};
    std::string why{};
    /// Due after this long, by the database's clock. Default now.
    Duration wait{};
    /// None: where it last was.
    std::optional<std::string> queue{};
    /// None: as it last was.
    std::optional<Priority> priority{};
};

/// Which jobs that have not ended are meant; what is not given may be anything. One that says nothing at all is refused:
/// `JobFilter::all()` says that everything is meant.
///
///     scheduler.cancel_jobs({.kind = "mail.newsletter", .tags = {"spring"}}, 1000, {.by = "ann", .why = "wrong text"});
struct JobFilter {
    std::optional<std::string> kind{};
    /// The queue in which it stands now.
    std::optional<std::string> queue{};
    /// All of them; trimmed and in lower case, as they are stored.
    std::vector<std::string> tags{};
    std::optional<Time> created_after{};
    std::optional<Time> created_before{};
    /// Said by `all()`.
    bool everything{false};

    [[nodiscard]] static JobFilter all() {
        JobFilter filter;
        filter.everything = true;
        return filter;
    }
};

/// What an act on one job came to.
///
///     if (!scheduler.cancel_job(id)) …  // it has ended, or was never there
struct [[nodiscard]] ActResult {
    /// It was done, by this call.
    bool done{};
    /// Where the job stands: after the act when it was done, else what stood against it. None for an id that the database
    /// does not have (any more).
    std::optional<State> state{};

    explicit operator bool() const noexcept { return done; }
};

/// A queue, as people need it.
struct QueueInfo {
    std::string name;
    bool paused{};
    /// Since when it is paused.
    std::optional<Time> paused_at{};
    /// The dead letter that paused it; none when a person did.
    std::optional<JobId> halted_by{};
    std::string runbook;
};

/// One act on a job, as it was kept.
struct Act {
    Time at{};
    /// `cancel`, `pause`, `resume` or `redrive`.
    std::string verb;
    std::string by;
    std::string why;
};

}  // namespace pawl
