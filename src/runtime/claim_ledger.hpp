#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "store/store.hpp"

namespace pawl::runtime {

/// Which claims this node believes to hold, and how many of their ids are not settled yet: to be compared with what the
/// database has, because replies get lost and statements of lost connections may still commit.
///
/// **Threads**: safe from any thread.
class ClaimLedger {
public:
    /// What the comparison found.
    struct Difference {
        /// In the database, not here: claimed by a statement whose reply was lost.
        std::vector<ClaimToken> unknown;
        /// The same, taken over from a lost node.
        std::vector<ClaimToken> unknown_lost;
        /// Here, not in the database: taken away.
        std::vector<ClaimToken> missing;
    };

    /// A claim statement from before it is sent until its reply was read and entered, or lost.
    class UnderWay {
    public:
        explicit UnderWay(ClaimLedger& ledger) : ledger_(ledger), number_(ledger.begin()) {}
        UnderWay(const UnderWay&) = delete;
        UnderWay& operator=(const UnderWay&) = delete;
        ~UnderWay() { ledger_.end(number_); }

    private:
        ClaimLedger& ledger_;
        const std::uint64_t number_;
    };

    void enter(ClaimToken token, std::size_t ids);
    /// One id less; the claim is forgotten with its last.
    void settle(ClaimToken token);
    void forget(ClaimToken token);

    /// What is known before the database's claims are read: only that can be missing in them.
    [[nodiscard]] std::vector<ClaimToken> known() const;

    /// Compares with rows that were read after `known`. A row may belong to a claim that was under way meanwhile, so it
    /// waits until those have ended; claims that begin later do not matter. None when that takes longer than `patience`.
    [[nodiscard]] std::optional<Difference> compare(std::span<const ClaimToken> known,
                                                    std::span<const store::OwnClaim> rows,
                                                    std::chrono::nanoseconds patience) const;

private:
    std::uint64_t begin();
    void end(std::uint64_t number);

    mutable base::Mutex mutex_;
    mutable base::CondVar ended_;
    std::unordered_map<ClaimToken, std::size_t> claims_ PAWL_GUARDED_BY(mutex_);
    std::set<std::uint64_t> under_way_ PAWL_GUARDED_BY(mutex_);
    std::uint64_t begun_ PAWL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pawl::runtime
