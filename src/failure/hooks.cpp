#include <pawl/classification.hpp>

#include "failure/capture.hpp"
#include "failure/contain.hpp"
#include "failure/decide.hpp"
#include "failure/sanitize.hpp"
#include "failure/table.hpp"

namespace pawl::failure {
namespace {

bool limit_was_reached(Reason reason) {
    switch (reason) {
        case Reason::rule_exhausted:
        case Reason::plan:
        case Reason::exhausted:
        case Reason::timed_out:
        case Reason::payload:
            return true;
        default:
            return false;
    }
}

void owe(Notes& notes, std::string_view where, const FailureCallback& call, const Failure& failure) {
    if (call) notes.hooks.push_back({std::string(where), call, failure});
}

}  // namespace

std::string described(const std::exception_ptr& thrown) {
    const auto failure = capture(thrown, nullptr, {}, Classification());
    const ErrorRecord record = sanitize(DefaultErrorSanitizer(), *failure);
    return record.message.empty() ? record.type : record.type + ": " + record.message;
}

void owe_hooks(const Case& c, const model::Decision& decision) {
    const detail::RuleBook& book = c.policy.rules.rule_book();
    const Failure& matched = c.matched ? *c.matched : c.failure;
    if (decision.reason == Reason::discarded && c.rule != nullptr)
        owe(c.notes, "discard_on", c.rule->discarded, matched);
    if (limit_was_reached(decision.reason)) {
        const bool by_rule = c.rule != nullptr && c.rule->retry->exhausted;
        if (by_rule) {
            owe(c.notes, "retry_on.exhausted", c.rule->retry->exhausted, matched);
        } else {
            owe(c.notes, "on_exhausted", book.exhausted(), c.failure);
        }
    }
    for (const FailureCallback& callback : book.after_discard()) owe(c.notes, "after_discard", callback, c.failure);
}

void run_hooks(Notes& notes) {
    for (const OwedHook& hook : notes.hooks) {
        try {
            hook.call(hook.failure);
        } catch (abi::__forced_unwind&) {
            throw;
        } catch (...) {  // User code: one that throws does not stop the others.
            notes.misbehaving_hooks.push_back({hook.where, "threw " + described(std::current_exception())});
        }
    }
    notes.hooks.clear();
}

}  // namespace pawl::failure
