#include <cstdint>
#include <string_view>

#include <pawl/errors.hpp>
#include <pawl/rules.hpp>

#include "failure/limits.hpp"
#include "failure/type_name.hpp"
#include "failure/utf8.hpp"
#include "model/job_spec.hpp"

namespace pawl::detail {
namespace {

constexpr std::size_t longest_key = 200;

/// FNV-1a, because the key must be the same in every build and on every node.
std::string hashed(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::string digits(16, '0');
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4)
        *digit = "0123456789abcdef"[hash & 0xF];
    return "types-" + digits;
}

std::string key_of(const std::vector<TypeMatch>& types) {
    std::string key;
    for (const TypeMatch& type : types) {
        if (!key.empty()) key += ',';
        key += failure::type_name(*type.type);
    }
    return key.size() > longest_key ? hashed(key) : key;
}

void check_key(const std::string& key) {
    if (key.size() > longest_key) throw ConfigError("retry_on.key", "is longer than 200 bytes");
    if (key.starts_with(':'))
        throw ConfigError("retry_on.key", "begins with ':', which is kept for plans and policies");
    if (failure::repair_utf8(key) != key)
        throw ConfigError("retry_on.key", "is not valid UTF-8 without control characters");
}

void check(const RetryRule& rule) {
    if (rule.attempts < 0) throw ConfigError("retry_on.attempts", "is negative; use pawl::unlimited to go on for ever");
    if (!(rule.jitter >= 0 && rule.jitter <= 1)) throw ConfigError("retry_on.jitter", "must be a fraction from 0 to 1");
    if (rule.wait.law() == Wait::Law::fixed && !failure::sensible(rule.wait.duration())) {
        throw ConfigError("retry_on.wait", "must be a duration from 0 to 366 days");
    }
    if (rule.wait.law() == Wait::Law::callable && !rule.wait.function())
        throw ConfigError("retry_on.wait", "has an empty function");
    if (rule.queue) model::validate_queue(*rule.queue, "retry_on.queue");
    if (rule.priority && *rule.priority > Priority::lowest) throw ConfigError("retry_on.priority", "is no priority");
    check_key(rule.key);
}

}  // namespace

void RuleBook::add_retry(std::vector<TypeMatch> types, RetryRule rule) {
    check(rule);
    std::string key = rule.key.empty() ? key_of(types) : rule.key;
    rules_.push_back({std::move(types), std::move(rule), {}, std::move(key)});
}

void RuleBook::add_discard(std::vector<TypeMatch> types, FailureCallback callback) {
    std::string key = key_of(types);
    rules_.push_back({std::move(types), std::nullopt, std::move(callback), std::move(key)});
}

void RuleBook::add_after_discard(FailureCallback callback) {
    if (!callback) throw ConfigError("after_discard", "has an empty callback");
    after_discard_.push_back(std::move(callback));
}

void RuleBook::set_exhausted(FailureCallback callback) {
    if (!callback) throw ConfigError("on_exhausted", "has an empty callback");
    exhausted_ = std::move(callback);
}

void RuleBook::set_strategy(RetryStrategy strategy) {
    if (!strategy) throw ConfigError("retry_with", "has an empty function");
    strategy_ = std::move(strategy);
}

void RuleBook::add_base(const RuleBook& base) {
    const RuleBook snapshot = base;  // which may be this very book
    rules_.insert(rules_.begin(), snapshot.rules_.begin(), snapshot.rules_.end());
    after_discard_.insert(after_discard_.begin(), snapshot.after_discard_.begin(), snapshot.after_discard_.end());
    if (!exhausted_) exhausted_ = snapshot.exhausted_;
    if (!strategy_) strategy_ = snapshot.strategy_;
}

}  // namespace pawl::detail
