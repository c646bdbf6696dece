#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pawl/backoff.hpp>
#include <pawl/clock.hpp>
#include <pawl/export.hpp>
#include <pawl/fwd.hpp>
#include <pawl/job.hpp>
#include <pawl/job_handle.hpp>

namespace pawl {

/// A job that is about to be enqueued. Made by `Scheduler::enqueue`; nothing is stored before `submit`.
///
///     auto job = scheduler.enqueue(ChargeCard{42, "EUR"}).with_max_retries(5).with_timeout(30s).submit(tx);
///
/// **Throws** `ConfigError` naming the field, from the member that got a value out of range.
/// **Threads**: confined to one thread.
/// **Lifetime**: its scheduler must outlive it.
class PAWL_EXPORT JobBuilder {
public:
    struct Impl;

    explicit JobBuilder(std::unique_ptr<Impl> impl) noexcept;
    JobBuilder(JobBuilder&&) noexcept;
    JobBuilder& operator=(JobBuilder&&) noexcept;
    JobBuilder(const JobBuilder&) = delete;
    JobBuilder& operator=(const JobBuilder&) = delete;
    ~JobBuilder();

    /// The queue it waits in. Default `default`. Any valid UTF-8 of 1 to 200 bytes without control characters; names are
    /// data, so dots, spaces and case mean nothing.
    JobBuilder& with_queue(std::string_view queue) &;
    [[nodiscard("call submit()")]] JobBuilder with_queue(std::string_view queue) && {
        return std::move(with_queue(queue));
    }

    /// How urgent it is among the due jobs of its queue. Default `Priority::normal`.
    JobBuilder& with_priority(Priority priority) &;
    [[nodiscard("call submit()")]] JobBuilder with_priority(Priority priority) && {
        return std::move(with_priority(priority));
    }

    /// Due after this long, by the database's clock, from the moment it is submitted. From zero, which means now, to
    /// 1,000 years. With `with_run_at` the later call wins.
    JobBuilder& with_delay(Duration delay) &;
    [[nodiscard("call submit()")]] JobBuilder with_delay(Duration delay) && { return std::move(with_delay(delay)); }

    /// Due at this time, rounded up to a microsecond. One that has passed means now; the year 9999 is the last.
    template <class Span>
    JobBuilder& with_run_at(std::chrono::sys_time<Span> time) & {
        return due_at(Duration(time.time_since_epoch()));
    }
    template <class Span>
    [[nodiscard("call submit()")]] JobBuilder with_run_at(std::chrono::sys_time<Span> time) && {
        return std::move(due_at(Duration(time.time_since_epoch())));
    }

    /// Retries after a failed first run: n allows n + 1 runs. Zero runs it once. Default: its kind's where it runs, else
    /// the scheduler's there. Given here it bounds rules and plans as well.
    JobBuilder& with_max_retries(int retries) &;
    [[nodiscard("call submit()")]] JobBuilder with_max_retries(int retries) && {
        return std::move(with_max_retries(retries));
    }

    /// How long it waits before each retry. Default: as above. A custom function cannot be stored and is refused.
    JobBuilder& with_backoff(Backoff backoff) &;
    [[nodiscard("call submit()")]] JobBuilder with_backoff(Backoff backoff) && {
        return std::move(with_backoff(std::move(backoff)));
    }

    /// The hard limit of one run, above zero. Default: as above. `no_timeout` lets it run for ever; then a handler that
    /// hangs holds its thread until the process ends.
    JobBuilder& with_timeout(Duration timeout) &;
    [[nodiscard("call submit()")]] JobBuilder with_timeout(Duration timeout) && {
        return std::move(with_timeout(timeout));
    }

    /// Adds words to find it by: at most 20, each of 1 to 64 bytes once trimmed. ASCII letters become lower case, and
    /// repetitions are dropped.
    JobBuilder& with_tags(std::vector<std::string> tags) &;
    [[nodiscard("call submit()")]] JobBuilder with_tags(std::vector<std::string> tags) && {
        return std::move(with_tags(std::move(tags)));
    }

    /// Adds a text for the handler that is not part of the payload, as a trace or tenant id. At most 20, keys and texts
    /// 4,096 bytes together. The same key again replaces the text.
    JobBuilder& with_param(std::string_view key, std::string_view text) &;
    [[nodiscard("call submit()")]] JobBuilder with_param(std::string_view key, std::string_view text) && {
        return std::move(with_param(key, text));
    }

    /// Names the follow-up of a terminal failure, by the name given to `Scheduler::on_failure`: a job of its own, with a
    /// `FinishedJob` for a payload, that is enqueued in the commit that writes the failure, thus exactly once. Once per
    /// terminal failure (a dead letter or discarded), never per retry, and not when the job is canceled. It waits in the
    /// job's queue at the job's priority; when nobody has a handler of that name, it stays pending there. The later call
    /// wins.
    JobBuilder& on_failure(std::string_view name) &;
    [[nodiscard("call submit()")]] JobBuilder on_failure(std::string_view name) && {
        return std::move(on_failure(name));
    }

    /// The same for a job that succeeds, by the name given to `Scheduler::on_success`.
    JobBuilder& on_success(std::string_view name) &;
    [[nodiscard("call submit()")]] JobBuilder on_success(std::string_view name) && {
        return std::move(on_success(name));
    }

    /// Enqueues it in a transaction of its own.
    ///
    /// **Throws** `StoreError`; when that is `in_doubt()`, the job may exist. A second call enqueues a second job.
    JobHandle submit();

    /// Enqueues it in the caller's transaction: it exists if and only if that commits. One statement; nothing is prepared
    /// or changed on the connection.
    ///
    /// **Throws** `StoreError` for a transaction that is closed or broken, and for what the database says; the transaction
    /// is then PostgreSQL's to abort.
    JobHandle submit(pqxx::dbtransaction& transaction);

    /// A `pqxx::nontransaction` commits each statement by itself: take a `pqxx::work`, or `submit()`.
    JobHandle submit(pqxx::transaction_base& transaction) = delete;

private:
    JobBuilder& due_at(Duration since_epoch);

    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
