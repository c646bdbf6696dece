#include "runtime/claim_ledger.hpp"

#include <unordered_set>

namespace pawl::runtime {

std::uint64_t ClaimLedger::begin() {
    const base::MutexLock lock(mutex_);
    under_way_.insert(++begun_);
    return begun_;
}

void ClaimLedger::end(std::uint64_t number) {
    {
        const base::MutexLock lock(mutex_);
        under_way_.erase(number);
    }
    ended_.notify_all();
}

void ClaimLedger::enter(ClaimToken token, std::size_t ids) {
    const base::MutexLock lock(mutex_);
    if (ids > 0) claims_[token] = ids;
}

void ClaimLedger::settle(ClaimToken token) {
    const base::MutexLock lock(mutex_);
    const auto claim = claims_.find(token);
    if (claim != claims_.end() && --claim->second == 0) claims_.erase(claim);
}

void ClaimLedger::forget(ClaimToken token) {
    const base::MutexLock lock(mutex_);
    claims_.erase(token);
}

std::vector<ClaimToken> ClaimLedger::known() const {
    const base::MutexLock lock(mutex_);
    std::vector<ClaimToken> tokens;
    tokens.reserve(claims_.size());
    for (const auto& [token, ids] : claims_) tokens.push_back(token);
    return tokens;
}

std::optional<ClaimLedger::Difference> ClaimLedger::compare(std::span<const ClaimToken> known,
                                                            std::span<const store::OwnClaim> rows,
                                                            std::chrono::nanoseconds patience) const {
    const auto until = std::chrono::steady_clock::now() + patience;
    const base::MutexLock lock(mutex_);
    const std::uint64_t last_that_matters = begun_;
    while (!under_way_.empty() && *under_way_.begin() <= last_that_matters) {
        if (!ended_.wait_until(mutex_, until) && std::chrono::steady_clock::now() >= until) return std::nullopt;
    }
    Difference difference;
    std::unordered_set<ClaimToken> stored;
    for (const store::OwnClaim& row : rows) {
        stored.insert(row.token);
        if (!claims_.contains(row.token)) {
            (row.lost ? difference.unknown_lost : difference.unknown).push_back(row.token);
        }
    }
    for (const ClaimToken token : known) {
        if (claims_.contains(token) && !stored.contains(token)) difference.missing.push_back(token);
    }
    return difference;
}

}  // namespace pawl::runtime
