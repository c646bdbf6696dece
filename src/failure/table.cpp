#include "failure/table.hpp"

#include <array>
#include <span>
#include <utility>

#include "failure/sanitize.hpp"

// Where a job goes after a run that failed. The first row that applies decides:
//
//      2  fatal_type         an error after which no job can run here     released, and the pool stops
//      2b non_idempotent     the kind must not be run twice               dead letter, needs_person
//      2c step_in_doubt      a step of once() may have been done          dead letter, needs_person
//      3  discard_rule       discard_on                                   discarded
//      4  do_not_retry       a mark, or a PermanentError, in the chain    dead letter, do_not_retry, not counted
//      5  retry_rule         retry_on, its attempts used up               dead letter, rule_exhausted
//      6  permanent_class    no rule, and the class is permanent          dead letter, permanent, not counted
//      7  kind_strategy      retry_with says no, or its plan is at end    dead letter, plan
//      8  global_policy      the scheduler's policy says no               dead letter, policy
//      9  attempts_used_up   more runs than the job has                   dead letter, exhausted | timed_out | payload
//      10 retry_after_delay  otherwise                                    retry_at
//
// Row 0, whether the claim still holds the job, is the store's: only the write itself can tell. Row 1, what a handler says
// of itself, is in decide.cpp.

namespace pawl::failure {
namespace {

using model::Decision;
using model::Verdict;

struct NamedRow {
    std::string_view name;
    Row applies;
};

constexpr NamedRow row_2{"2 fatal_type", fatal_type};
constexpr NamedRow row_2b{"2b non_idempotent", non_idempotent};
constexpr NamedRow row_2c{"2c step_in_doubt", step_in_doubt};
constexpr NamedRow row_3{"3 discard_rule", discard_rule};
constexpr NamedRow row_4{"4 do_not_retry", do_not_retry};
constexpr NamedRow row_5{"5 retry_rule", retry_rule};
constexpr NamedRow row_6{"6 permanent_class", permanent_class};
constexpr NamedRow row_7{"7 kind_strategy", kind_strategy};
constexpr NamedRow row_8{"8 global_policy", global_policy};
constexpr NamedRow row_9{"9 attempts_used_up", attempts_used_up};
constexpr std::string_view row_10 = "10 retry_after_delay";

constexpr std::array threw_rows{row_2, row_2b, row_2c, row_3, row_4, row_5, row_6, row_7, row_8, row_9};
constexpr std::array timed_out_rows{row_2b, row_2c, row_3, row_4, row_5, row_6, row_7, row_8, row_9};
constexpr std::array undecodable_rows{row_3, row_4, row_5, row_6, row_7, row_8, row_9};
constexpr std::array retry_after_rows{row_8, row_9};

std::span<const NamedRow> rows_of(Entry entry) {
    switch (entry) {
        case Entry::threw:
            break;
        case Entry::timed_out:
            return timed_out_rows;
        case Entry::undecodable:
            return undecodable_rows;
        case Entry::retry_after:
            return retry_after_rows;
    }
    return threw_rows;
}

const ErrorSanitizer& sanitizer_of(const FailurePolicy& policy) {
    static const DefaultErrorSanitizer built_in;
    return policy.sanitizer ? *policy.sanitizer : built_in;
}

bool is_terminal_failure(const Decision& decision) {
    return decision.verdict == Verdict::dead_letter || decision.verdict == Verdict::discard;
}

}  // namespace

Decision finished(Case& c, Decision decision, std::string_view row) {
    decision.error = sanitize(sanitizer_of(c.policy), c.failure);
    if (decision.rule.empty() && c.rule != nullptr) decision.rule = c.rule->key;
    if (decision.rule.empty() && c.plan) decision.rule = ":plan";
    c.notes.row = row;
    c.notes.timed_out = c.timed_out;
    if (is_terminal_failure(decision)) {
        const bool used_up = decision.reason == Reason::exhausted || decision.reason == Reason::rule_exhausted;
        c.notes.poison_or_bug = used_up && c.failure.error_class() == ErrorClass::unknown;
        owe_hooks(c, decision);
    }
    return decision;
}

Decision through(Entry entry, Case c) {
    for (const NamedRow& row : rows_of(entry)) {
        if (auto decision = row.applies(c)) return finished(c, std::move(*decision), row.name);
    }
    return finished(c, retry_after_delay(c), row_10);
}

}  // namespace pawl::failure
