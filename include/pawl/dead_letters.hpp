#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pawl/acts.hpp>
#include <pawl/clock.hpp>
#include <pawl/error_record.hpp>
#include <pawl/job.hpp>

namespace pawl {

/// Which failed jobs are meant; what is not given may be anything. One that says nothing at all is refused: `Filter::all()`
/// says that everything is meant.
///
///     scheduler.retry_jobs({.kind = "billing.charge_card", .error_type = "GatewayDown", .failed_after = incident}, 500);
struct Filter {
    std::optional<std::string> kind{};
    /// The queue that it was enqueued to.
    std::optional<std::string> queue{};
    /// All of them, as they are stored: trimmed, in lower case.
    std::vector<std::string> tags{};
    /// The stored type of the error, exactly.
    std::optional<std::string> error_type{};
    std::optional<Reason> reason{};
    /// A part of the sanitized message; case counts.
    std::optional<std::string> error_contains{};
    std::optional<Time> created_after{};
    std::optional<Time> created_before{};
    std::optional<Time> failed_after{};
    std::optional<Time> failed_before{};
    /// Counted attempts, both included.
    std::optional<int> attempts_at_least{};
    std::optional<int> attempts_at_most{};
    /// True: the discarded ones instead of the dead letters.
    bool discarded{false};
    /// Said by `all()`.
    bool everything{false};

    [[nodiscard]] static Filter all() {
        Filter filter;
        filter.everything = true;
        return filter;
    }
};

/// How many are put back at once, and how.
struct RedriveManyOptions {
    std::string by{};
    std::string why{};
    /// The first is due after this long.
    Duration wait{};
    std::optional<std::string> queue{};
    std::optional<Priority> priority{};
    /// Due at most so many a second, in the order of their failing, so that they do not fall upon a service that has just
    /// come back. None: all at once. Above zero.
    std::optional<double> per_second{};
};

/// A failed job, as people need it.
struct DeadLetter : JobInfo {
    /// A text that goes with the reason: the mark's, or what the handler gave.
    std::string detail;
    /// What to do about it: the kind's runbook, else its queue's.
    std::string runbook;
};

/// A part of the dead letters, the latest first.
struct DeadLetterPage {
    std::vector<DeadLetter> letters;
    /// Where the next page begins; none: this is the last.
    std::optional<std::string> next;
};

/// Which part of the dead letters is wanted.
struct PageOptions {
    /// From 1 to 1,000. Default 100.
    int limit{100};
    /// `next` of the page before; none: the first page.
    std::optional<std::string> after{};
};

/// A run that failed, was lost or timed out, and what was decided about it.
struct AttemptInfo {
    /// Which run it was: 1 on the first.
    int attempt{};
    bool counted{};
    /// From before the job was put back.
    bool redriven{};
    ErrorRecord record;
    /// `retry_at`, `dead_letter`, `discard`, `snooze`, `release` or `cancel`.
    std::string decision;
    Reason reason{Reason::none};
    /// The rule, plan or policy that spoke; empty when none did.
    std::string rule;
    /// Jitter included.
    std::chrono::microseconds delay{};
    std::chrono::microseconds jitter{};
    std::int64_t node{};
    std::optional<Time> started_at{};
    Time finished_at{};
    std::chrono::microseconds duration{};
};

}  // namespace pawl
