#include <utility>

#include <fmt/format.h>

#include <pawl/testing.hpp>

#include "api/scheduler_impl.hpp"

namespace pawl {

struct detail::TestAccess {
    static Scheduler::Impl& of(Scheduler& scheduler) { return *scheduler.impl_; }
};

namespace testing {

using Access = pawl::detail::TestAccess;

namespace {

std::string described(const JobInfo& job) {
    std::string line = fmt::format("\n  job {} in queue {}, {}, priority {}", job.id, job.queue, to_string(job.state),
                                   to_string(job.priority));
    if (!job.tags.empty()) line += fmt::format(", tags {}", fmt::join(job.tags, " "));
    return line + ": " + job.payload;
}

}  // namespace

std::size_t drain(Scheduler& scheduler) { return Access::of(scheduler).drain(); }

std::size_t make_due(Scheduler& scheduler) { return static_cast<std::size_t>(Access::of(scheduler).store->make_due()); }

std::vector<JobInfo> detail::search(Scheduler& scheduler, std::string_view kind, const Wanted& wanted) {
    std::optional<std::string_view> queue;
    std::optional<std::string_view> tag;
    if (wanted.queue) queue = *wanted.queue;
    if (wanted.tag) tag = *wanted.tag;
    return Access::of(scheduler).store->search({.kind = kind, .queue = queue, .tag = tag, .state = wanted.state});
}

Check detail::check_count(std::string_view kind, const std::vector<JobInfo>& found, std::size_t expected) {
    if (found.size() == expected) return {true, {}};
    Check check{false, fmt::format("{} of {} where {} {} expected", found.size(), kind, expected,
                                   expected == 1 ? "is" : "are")};
    for (const JobInfo& job : found) check.message += described(job);
    return check;
}

Check detail::check_any(std::string_view kind, const std::vector<JobInfo>& found, bool matched) {
    if (matched) return {true, {}};
    Check check{false, fmt::format("none of the {} jobs of {} is the expected one", found.size(), kind)};
    for (const JobInfo& job : found) check.message += described(job);
    return check;
}

}  // namespace testing
}  // namespace pawl
