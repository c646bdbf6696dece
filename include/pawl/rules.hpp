#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/detail/type_match.hpp>
#include <pawl/export.hpp>
#include <pawl/job.hpp>
#include <pawl/retry_policy.hpp>
#include <pawl/wait.hpp>

namespace pawl {

/// As many attempts as it takes.
inline constexpr int unlimited = std::numeric_limits<int>::max();

/// Told of a terminal failure once it is written; not when the outcome was stale, and not when the process dies before it:
/// what must not be lost is a follow-up (`JobBuilder::on_failure`). What it throws is contained and becomes an event
/// `MisbehavingHook`.
///
/// **Threads**: called concurrently from worker threads, each with the live exception of its own run; for a job that was
/// lost with its node, which has none, on a thread of the library.
using FailureCallback = detail::Callable<void(const Failure&)>;

/// What a `retry_on` says about the errors it names.
struct RetryRule {
    /// Runs in all, the first included; at least 0, and 0 and 1 both mean never to retry. `unlimited` never ends by itself.
    /// A job's own `with_max_retries` bounds it as well.
    int attempts{5};
    /// From 0 to 366 days. Counted by the rule's own failures, not the job's.
    Wait wait{std::chrono::seconds(3)};
    /// Fraction of the wait that is added at most, from 0 to 1. Never on a callable's result.
    double jitter{0.15};
    /// Where the job goes from now on. None: it stays.
    std::optional<std::string> queue{};
    std::optional<Priority> priority{};
    /// Rules with the same key share one count. Empty: the printed names of the types, joined by commas, or their hash
    /// above 200 bytes; so renaming a type starts its count afresh.
    std::string key{};
    /// Called when the attempts are used up, with the error or the cause that matched.
    FailureCallback exhausted{};
};

namespace detail {

/// One `retry_on` or `discard_on`.
struct Rule {
    std::vector<TypeMatch> types;
    /// None: discard.
    std::optional<RetryRule> retry;
    FailureCallback discarded;
    /// Of a retry rule the key of its count, of a discard rule the names of its types.
    std::string key;
};

/// What is declared for a kind, compiled.
class PAWL_EXPORT RuleBook {
public:
    /// **Throws** `ConfigError` naming the field.
    void add_retry(std::vector<TypeMatch> types, RetryRule rule);
    void add_discard(std::vector<TypeMatch> types, FailureCallback callback);
    void add_after_discard(FailureCallback callback);
    void set_exhausted(FailureCallback callback);
    void set_strategy(RetryStrategy strategy);
    /// Takes a snapshot of another book, as if declared before everything here.
    void add_base(const RuleBook& base);

    /// In declared order; the last one speaks first.
    [[nodiscard]] const std::vector<Rule>& rules() const noexcept { return rules_; }
    [[nodiscard]] const std::vector<FailureCallback>& after_discard() const noexcept { return after_discard_; }
    [[nodiscard]] const FailureCallback& exhausted() const noexcept { return exhausted_; }
    [[nodiscard]] const RetryStrategy& strategy() const noexcept { return strategy_; }

private:
    std::vector<Rule> rules_;
    std::vector<FailureCallback> after_discard_;
    FailureCallback exhausted_;
    RetryStrategy strategy_;
};

}  // namespace detail

/// The words in which failures of a kind are ruled, for every class that has a `rule_book()`: a `Rules`, and what
/// `Scheduler::on` returns.
///
/// The error that was thrown is held against all rules, the last declared first, by `catch`; then each of its causes in
/// turn. At most one rule speaks.
template <class Self>
class RuleClauses {
public:
    /// Retries errors of these types by one rule, with one count of failures for all of them.
    ///
    /// **Throws** `ConfigError` for values out of range, an empty callable or an invalid queue name.
    template <class... E>
    Self& retry_on(RetryRule rule = {}) {
        static_assert(sizeof...(E) > 0, "retry_on needs at least one type, as in retry_on<Busy, Timeout>()");
        book().add_retry({detail::type_match<E>()...}, std::move(rule));
        return self();
    }

    /// Ends a job with one of these errors for good, without a dead letter; it is kept as failed and discarded. The
    /// callback gets the error or the cause that matched.
    template <class... E>
    Self& discard_on(FailureCallback callback = {}) {
        static_assert(sizeof...(E) > 0, "discard_on needs at least one type, as in discard_on<OrderGone>()");
        book().add_discard({detail::type_match<E>()...}, std::move(callback));
        return self();
    }

    /// Called at every terminal failure, whatever its reason, in declared order, those of the base first. One that throws
    /// does not stop the others.
    Self& after_discard(FailureCallback callback) {
        book().add_after_discard(std::move(callback));
        return self();
    }

    /// Called when a limit of attempts was reached: of a rule without a callback of its own, a plan, or the job.
    Self& on_exhausted(FailureCallback callback) {
        book().set_exhausted(std::move(callback));
        return self();
    }

    /// Asks this function on each failure that no rule, mark or class has settled; see RetryStrategy.
    Self& retry_with(RetryStrategy strategy) {
        book().set_strategy(std::move(strategy));
        return self();
    }

    /// Takes over what `base` says now, searched after what is declared here.
    template <class Other>
    Self& inherit(const Other& base) {
        book().add_base(base.rule_book());
        return self();
    }

private:
    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
    [[nodiscard]] detail::RuleBook& book() { return self().rule_book(); }
};

/// A set of rules to be shared by several kinds.
class Rules : public RuleClauses<Rules> {
public:
    [[nodiscard]] detail::RuleBook& rule_book() noexcept { return book_; }
    [[nodiscard]] const detail::RuleBook& rule_book() const noexcept { return book_; }

private:
    detail::RuleBook book_;
};

}  // namespace pawl
