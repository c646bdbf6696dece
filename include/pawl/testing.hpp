#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pawl/codec.hpp>
#include <pawl/export.hpp>
#include <pawl/job.hpp>
#include <pawl/scheduler.hpp>
#include <pawl/task.hpp>
#include <pawl/testing/private_postgres.hpp>

// For the tests of services that use pawl; bound to no test framework. Link `pawl::testing`.

namespace pawl::testing {

/// Runs the due jobs of the scheduler's queues and kinds on the calling thread, through the path that production takes,
/// until none is due. Gives the number of runs.
///
/// What is due later is left alone: see `make_due`. Events are delivered when it returns. May be called again, and the
/// scheduler may be started afterwards. A job that always asks to be run again at once makes it run for ever.
///
/// **Throws** `ConfigError` without queues or handlers, or once the scheduler was started; `StoreError`.
/// **Threads**: confined to one thread, together with `on` and `start`.
///
///     shop.place_order(42);
///     EXPECT_EQ(pawl::testing::drain(scheduler), 1);
PAWL_EXPORT std::size_t drain(Scheduler& scheduler);

/// Time travel: all jobs that are scheduled for later, retries included, are due now. Gives their number.
///
/// **Throws** `StoreError`.
/// **Threads**: safe from any thread.
PAWL_EXPORT std::size_t make_due(Scheduler& scheduler);

/// Which of a type's jobs are looked at; what is none may be anything.
struct Wanted {
    std::optional<std::string> queue{};
    std::optional<std::string> tag{};
    /// Default: those that have not begun. `succeeded` for those that were performed.
    std::optional<State> state{State::pending};
};

/// A stored job and what it was enqueued with. `run_at`, `queue`, `tags` and the rest are those of `JobInfo`.
template <class T>
struct Enqueued : JobInfo {
    T job;
    /// What `job` may point into.
    pawl::detail::Document document;
};

/// What a check came to, for any framework: `EXPECT_TRUE(check) << check.message`.
struct [[nodiscard]] Check {
    bool passed{};
    /// Why not, with the jobs that were there, payloads included.
    std::string message;

    explicit operator bool() const noexcept { return passed; }
};

namespace detail {

PAWL_EXPORT std::vector<JobInfo> search(Scheduler& scheduler, std::string_view kind, const Wanted& wanted);
PAWL_EXPORT Check check_count(std::string_view kind, const std::vector<JobInfo>& found, std::size_t expected);
PAWL_EXPORT Check check_any(std::string_view kind, const std::vector<JobInfo>& found, bool matched);

template <class T>
Enqueued<T> decoded(JobInfo info) {
    pawl::detail::Document document;
    T job = pawl::detail::decode<T>(info.payload, document);
    return {std::move(info), std::move(job), std::move(document)};
}

}  // namespace detail

/// The stored jobs of a type, in the order of their ids, as committed.
///
/// **Throws** `StoreError`, and what the codec throws for a payload that is not one of `T`.
/// **Threads**: safe from any thread.
template <class T>
std::vector<Enqueued<T>> enqueued(Scheduler& scheduler, const Wanted& wanted = {}) {
    std::vector<Enqueued<T>> jobs;
    for (JobInfo& info : detail::search(scheduler, pawl::detail::kind_info<T>().kind, wanted)) {
        jobs.push_back(detail::decoded<T>(std::move(info)));
    }
    return jobs;
}

/// The same for a named function: `job` is the tuple of its arguments.
template <class... Parameters>
auto enqueued(Scheduler& scheduler, const pawl::detail::TaskOf<Parameters...>& task, const Wanted& wanted = {}) {
    using Arguments = typename pawl::detail::TaskOf<Parameters...>::Arguments;
    std::vector<Enqueued<Arguments>> jobs;
    for (JobInfo& info : detail::search(scheduler, task.kind(), wanted)) {
        jobs.push_back(detail::decoded<Arguments>(std::move(info)));
    }
    return jobs;
}

template <class T>
std::size_t enqueued_count(Scheduler& scheduler, const Wanted& wanted = {}) {
    return detail::search(scheduler, pawl::detail::kind_info<T>().kind, wanted).size();
}

/// The first job that a predicate over `Enqueued<T>` is true for.
template <class T, class Predicate>
std::optional<Enqueued<T>> find_enqueued(Scheduler& scheduler, Predicate&& predicate, const Wanted& wanted = {}) {
    for (Enqueued<T>& job : enqueued<T>(scheduler, wanted)) {
        if (predicate(std::as_const(job))) return std::move(job);
    }
    return std::nullopt;
}

/// That there are exactly so many; 0 for none.
template <class T>
Check expect_enqueued(Scheduler& scheduler, std::size_t count, const Wanted& wanted = {}) {
    const std::string_view kind = pawl::detail::kind_info<T>().kind;
    return detail::check_count(kind, detail::search(scheduler, kind, wanted), count);
}

/// That there is one that a predicate over `Enqueued<T>` is true for.
///
///     const auto check = pawl::testing::expect_enqueued<ChargeCard>(
///         scheduler, [](const auto& charge) { return charge.job.order_id == 42; }, {.tag = "payment"});
template <class T, class Predicate>
    requires std::predicate < Predicate&, const Enqueued<T>
& > Check expect_enqueued(Scheduler& scheduler, Predicate&& predicate, const Wanted& wanted = {}) {
    const std::string_view kind = pawl::detail::kind_info<T>().kind;
    std::vector<JobInfo> found = detail::search(scheduler, kind, wanted);
    bool matched = false;
    for (const JobInfo& info : found) {
        const Enqueued<T> job = detail::decoded<T>(info);
        matched = matched || predicate(job);
    }
    return detail::check_any(kind, found, matched);
}

}  // namespace pawl::testing
