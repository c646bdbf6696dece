#include "runtime/claim_ledger.hpp"

#include <unordered_set>

namespace pawl::runtime {

void ClaimLedger::begin_claim() {
    const base::MutexLock lock(mutex_);
    ++under_way_;
    ++begun_;
}

void ClaimLedger::end_claim() {
    const base::MutexLock lock(mutex_);
    --under_way_;
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

std::optional<std::uint64_t> ClaimLedger::begin_comparison() const {
    const base::MutexLock lock(mutex_);
    if (under_way_ > 0) return std::nullopt;
    return begun_;
}

std::optional<ClaimLedger::Difference> ClaimLedger::compare(std::uint64_t comparison,
                                                            std::span<const store::OwnClaim> rows) const {
    const base::MutexLock lock(mutex_);
    if (begun_ != comparison) return std::nullopt;
    Difference difference;
    std::unordered_set<ClaimToken> stored;
    for (const store::OwnClaim& row : rows) {
        stored.insert(row.token);
        if (!claims_.contains(row.token))
            (row.lost ? difference.unknown_lost : difference.unknown).push_back(row.token);
    }
    for (const auto& [token, ids] : claims_) {
        if (!stored.contains(token)) difference.missing.push_back(token);
    }
    return difference;
}

}  // namespace pawl::runtime
