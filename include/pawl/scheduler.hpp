#pragma once

#include <concepts>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <pawl/acts.hpp>
#include <pawl/circuit_breaker.hpp>
#include <pawl/clock.hpp>
#include <pawl/codec.hpp>
#include <pawl/dead_letters.hpp>
#include <pawl/enqueue_options.hpp>
#include <pawl/enqueue_statement.hpp>
#include <pawl/explanation.hpp>
#include <pawl/export.hpp>
#include <pawl/finished_job.hpp>
#include <pawl/fwd.hpp>
#include <pawl/handler.hpp>
#include <pawl/job.hpp>
#include <pawl/job_builder.hpp>
#include <pawl/options.hpp>
#include <pawl/stop_report.hpp>
#include <pawl/subscription.hpp>
#include <pawl/task.hpp>

namespace pawl {

namespace detail {

/// How <pawl/testing.hpp> comes inside.
struct TestAccess;

template <class T>
concept HasKind = requires {
    { T::kind } -> std::convertible_to<std::string_view>;
};

/// What a kind is in the program.
struct KindInfo {
    std::string_view kind;
    int payload_version{};
    const std::type_info* type{};
};

template <class T>
KindInfo kind_info() {
    static_assert(
        HasKind<T>,
        "pawl: a job type has a stored name: static constexpr std::string_view kind = \"billing.charge_card\";");
    KindInfo info{{}, 0, &typeid(T)};
    if constexpr (HasKind<T>) info.kind = T::kind;
    if constexpr (requires {
                      { T::payload_version } -> std::convertible_to<int>;
                  })
        info.payload_version = T::payload_version;
    return info;
}

template <class T>
std::string encode_job(const T& job) {
    static_assert(
        Encodable<T>,
        "pawl: this job type has no pawl::Codec: include <pawl/json.hpp> and give it nlohmann_json functions, or "
        "declare PAWL_JOB(Type)");
    return Codec<T>::encode(job);
}

template <class Range>
using JobOf = std::remove_cvref_t<decltype(*std::begin(std::declval<Range&>()))>;

}  // namespace detail

/// Enqueues jobs, and once started takes them from its queues and runs them.
///
/// Any number of schedulers, in any number of processes, share the work of one schema. One that is never started only
/// enqueues and needs neither handlers nor queues. It can be neither copied nor moved, because its threads point at it.
///
/// **Threads**: `enqueue…`, `find`, `counts`, `on_event` and `stop` are safe from any thread; the others are confined to one
/// thread. Handlers and policies are called concurrently from worker threads, listeners from the event thread.
class PAWL_EXPORT Scheduler {
public:
    /// Checks the options; connects to nothing yet.
    ///
    /// **Throws** `ConfigError` naming the field.
    explicit Scheduler(Options options);
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;
    /// Stops without a grace, if it still runs; never throws, and takes at most the hard grace.
    ~Scheduler();

    /// Registers what runs the jobs of a type: a lambda, functor or function that takes the job as `const T&` or `T`, and
    /// may take a `JobContext&` after it. It is copied, and called as const.
    ///
    /// **Throws** `ConfigError` after `start()`, and for a kind that has a handler.
    template <class T, class Function>
    Handler& on(Function&& function) {
        return add(detail::kind_info<T>(), detail::make_invoker<T>(std::forward<Function>(function)));
    }

    /// The same with a member function of an object.
    ///
    /// **Lifetime**: the object is not copied, and must outlive the scheduler's last handler, thus its `stop()`.
    template <class T, class Object, class Method>
    requires std::is_member_function_pointer_v<Method> Handler& on(Object& object, Method method) {
        static_assert(
            detail::is_handler<detail::MemberHandler<Object, Method>, T>,
            "pawl: a member function takes the job as const T& or T, and may take a pawl::JobContext& after it");
        return add(detail::kind_info<T>(),
                   detail::make_invoker<T>(detail::MemberHandler<Object, Method>{&object, method}));
    }

    /// Registers a named function.
    template <class Signature>
    Handler& on(const Task<Signature>& task) {
        return add({task.kind(), task.payload_version(), &typeid(typename Task<Signature>::Arguments)},
                   detail::make_invoker<typename Task<Signature>::Arguments>(task));
    }

    /// Registers the follow-up of jobs that were enqueued with `on_failure(name)`: a function that takes a
    /// `const FinishedJob&`, and may take a `JobContext&` after it. A follow-up is a job of kind `name`, with retries,
    /// time limits and rules of its own; it has no follow-up itself.
    ///
    /// **Throws** `ConfigError` after `start()`, and for a name that has a handler.
    template <class Function>
    Handler& on_failure(std::string_view name, Function&& function) {
        return add({name, 0, &typeid(FinishedJob)},
                   detail::make_invoker<FinishedJob>(std::forward<Function>(function)));
    }
    /// The same for `on_success(name)`. A function registered under one name may serve both.
    template <class Function>
    Handler& on_success(std::string_view name, Function&& function) {
        return on_failure(name, std::forward<Function>(function));
    }

    /// Begins a job. Nothing is stored until `submit` is called on what this returns.
    ///
    /// **Throws** `ConfigError` when the job cannot be stored: too large, not valid UTF-8, with NUL or with a number that is
    /// not finite; the text names the place.
    template <class T>
        requires(!detail::AnyTask<T>)
    [[nodiscard("call submit()")]] JobBuilder enqueue(const T& job) {
        return begin(detail::kind_info<T>(), detail::encode_job(job));
    }

    /// Begins a job that calls a named function; the arguments are converted here, by the rules of a call.
    template <class... Parameters>
    [[nodiscard("call submit()")]] JobBuilder enqueue(const detail::TaskOf<Parameters...>& task,
                                                      std::type_identity_t<Parameters>... arguments) {
        using Arguments = typename detail::TaskOf<Parameters...>::Arguments;
        return begin({task.kind(), task.payload_version(), &typeid(Arguments)},
                     detail::encode_job(std::tuple<const Parameters&...>(arguments...)));
    }

    /// Enqueues all jobs of a range, in one transaction of their own. Gives their ids in the order of the range.
    ///
    /// **Throws** as `enqueue` and `submit`; then none is stored.
    template <class Range>
        requires requires(const Range& jobs) { std::begin(jobs); }
    std::vector<JobId> enqueue_many(const Range& jobs, const EnqueueOptions& options = {}) {
        return enqueue_texts(detail::kind_info<detail::JobOf<const Range>>(), texts(jobs), options, nullptr);
    }
    template <class T>
    std::vector<JobId> enqueue_many(std::initializer_list<T> jobs, const EnqueueOptions& options = {}) {
        return enqueue_texts(detail::kind_info<T>(), texts(jobs), options, nullptr);
    }

    /// The same in the caller's transaction.
    template <class Range>
        requires requires(const Range& jobs) { std::begin(jobs); }
    std::vector<JobId> enqueue_many(pqxx::dbtransaction& transaction, const Range& jobs,
                                    const EnqueueOptions& options = {}) {
        return enqueue_texts(detail::kind_info<detail::JobOf<const Range>>(), texts(jobs), options, &transaction);
    }
    template <class Range>
    std::vector<JobId> enqueue_many(pqxx::transaction_base& transaction, const Range& jobs,
                                    const EnqueueOptions& options = {}) = delete;

    /// The statement that would enqueue a job, for callers on raw libpq or another driver.
    template <class T>
    [[nodiscard]] EnqueueStatement enqueue_statement(const T& job, const EnqueueOptions& options = {}) {
        return statement(detail::kind_info<T>(), detail::encode_job(job), options);
    }

    /// Takes a circuit breaker for `Handler::with_circuit_breaker`, and returns a copy of it. It counts what runs here.
    ///
    /// **Throws** `ConfigError` for a service that has one already, for a breaker that belongs to another scheduler, and after
    /// `start()`.
    CircuitBreaker circuit_breaker(CircuitBreaker breaker);

    /// Starts taking and running jobs. Handlers are fixed from here on.
    ///
    /// **Throws** `ConfigError` without queues or handlers, or when it was started before; `StoreError` when the database
    /// cannot be reached or its schema is not one that this release knows.
    void start();

    /// Takes no more jobs, gives back those that have not begun, lets the others end within the grace and, once their stop
    /// tokens have fired, within the hard grace. A second call waits for the first. From inside a handler it does not wait.
    StopReport stop();
    StopReport stop(Duration grace, Duration hard_grace);

    /// How it does: for a liveness and a readiness probe. Asks no database, and never waits for one.
    [[nodiscard]] Health health() const;

    /// What the database knows about a job; none for an id that it does not have (any more).
    [[nodiscard]] std::optional<JobInfo> find(JobId id);

    /// How many jobs stand where.
    [[nodiscard]] JobCounts counts();
    [[nodiscard]] JobCounts counts(std::string_view queue);

    /// Ends a job as `canceled`, wherever it stands. One that runs is fenced at once, its stop token fires on its node, and
    /// whatever its handler still says is dropped. Nothing is done to a job that has ended.
    ///
    /// A job in the middle of a move is waited for. These acts run in transactions of their own, never in a caller's.
    ///
    /// **Throws** `ConfigError` for texts that cannot be kept; `StoreError`; when that is `in_doubt()`, the same act again
    /// says where the job stands.
    ActResult cancel_job(JobId id, const ActOptions& act = {});

    /// The same for all jobs that are meant and have not ended, in the order of their ids, up to a limit from 1 to 10,000; one
    /// after the other, each in a transaction of its own. Gives the ids of those that it canceled: fewer than the limit when
    /// no more were there as it began. One that ends meanwhile, or that somebody else cancels, is not among them. When this
    /// throws in the middle, some are canceled: call it again.
    ///
    /// **Throws** `ConfigError` for a filter that says nothing, and as `cancel_job`.
    std::vector<JobId> cancel_jobs(const JobFilter& filter, int limit, const ActOptions& act = {});

    /// Holds a pending job back until it is resumed; its due time goes on. One that runs is not paused: see its `state`.
    ActResult pause_job(JobId id, const ActOptions& act = {});
    /// Lets a paused job go on, at once when its due time has passed.
    ActResult resume_job(JobId id, const ActOptions& act = {});

    /// Puts a failed job back, a dead letter or a discarded one: the same id, attempts from zero, the whole crash budget, fresh
    /// counts of rules. Its error is cleared, and the history of its runs kept.
    ActResult retry_job(JobId id, const RedriveOptions& redrive = {});
    /// The same for all failed jobs that are meant, those that failed first before the others, up to a limit from 1 to 1,000:
    /// all of them in one transaction, or none. Gives their ids. What another caller is putting back at the same time is passed
    /// over.
    std::vector<JobId> retry_jobs(const Filter& filter, int limit, const RedriveManyOptions& redrive = {});
    /// How many `retry_jobs` would find: look before you leap.
    [[nodiscard]] std::int64_t count_dead_letters(const Filter& filter);

    /// Pauses a queue on all nodes: no claim takes from it any more, what was claimed and has not begun goes back, and what
    /// runs may end. Takes effect at most one claim statement late. False when it was paused already.
    bool pause_queue(std::string_view queue, const ActOptions& act = {});
    /// Lets a queue go on that was paused, or halted by a dead letter. False when it was not paused.
    bool resume_queue(std::string_view queue, const ActOptions& act = {});
    /// Every queue that the schema has met, by name.
    [[nodiscard]] std::vector<QueueInfo> queues();

    /// The dead letters that are meant, the latest first, a page at a time.
    [[nodiscard]] DeadLetterPage dead_letters(const Filter& filter, const PageOptions& page = {});
    /// The runs of a job that failed, were lost or timed out, with what was decided about each, in order.
    [[nodiscard]] std::vector<AttemptInfo> attempts(JobId id);
    /// Who acted on a job, and why, in order.
    [[nodiscard]] std::vector<Act> acts(JobId id);

    /// What would become of a job whose handler throws this error: a dry run of the decision, with the rules, marks and
    /// policies of its kind. Policies, strategies and waits are really asked; callbacks are not called, and nothing is
    /// stored. Before and after `start()`. A null error is a worker that was lost, a `PayloadError` a payload that cannot
    /// be decoded.
    ///
    /// **Throws** `ConfigError` for a kind without a handler here, and for options out of range.
    /// **Threads**: confined to one thread before `start()`, safe from any thread after it, if the policies are.
    [[nodiscard]] Explanation explain(std::string_view kind, const std::exception_ptr& error,
                                      const ExplainOptions& options = {}) const;
    /// The same for the kind of a job type, and an error given as itself.
    template <class T, class E>
    [[nodiscard]] Explanation explain(const E& error, const ExplainOptions& options = {}) const {
        if constexpr (std::same_as<E, std::exception_ptr>) {
            return explain(detail::kind_info<T>().kind, error, options);
        } else {
            return explain(detail::kind_info<T>().kind, std::make_exception_ptr(error), options);
        }
    }

    /// Calls a function with every event of a type, after the commit that made it true, until what this returns is
    /// destroyed.
    template <class E, class Callback>
    [[nodiscard("a subscription ends when it is destroyed")]] Subscription on_event(Callback&& callback) {
        static_assert(detail::AnEvent<E>, "pawl: on_event<E> takes one of the events of <pawl/events.hpp>");
        return listen(detail::event_type<E>, detail::make_listener<E>(std::forward<Callback>(callback)));
    }

    struct Impl;

private:
    friend struct detail::TestAccess;

    Handler& add(const detail::KindInfo& info, std::unique_ptr<detail::Invoker> invoker);
    JobBuilder begin(const detail::KindInfo& info, std::string payload);
    std::vector<JobId> enqueue_texts(const detail::KindInfo& info, std::vector<std::string> payloads,
                                     const EnqueueOptions& options, pqxx::dbtransaction* transaction);
    EnqueueStatement statement(const detail::KindInfo& info, std::string payload, const EnqueueOptions& options);
    Subscription listen(std::size_t event, std::unique_ptr<detail::Listener> listener);

    template <class Range>
    static std::vector<std::string> texts(const Range& jobs) {
        std::vector<std::string> encoded;
        for (const auto& job : jobs) encoded.push_back(detail::encode_job(job));
        return encoded;
    }

    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl
