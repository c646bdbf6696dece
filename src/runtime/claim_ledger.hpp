#pragma once

#include <cstdint>
#include <optional>
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

    /// To be called before the claim statement is sent, and after its reply was read and entered.
    void begin_claim();
    void end_claim();

    void enter(ClaimToken token, std::size_t ids);
    /// One id less; the claim is forgotten with its last.
    void settle(ClaimToken token);
    void forget(ClaimToken token);

    /// To be taken before the database's claims are read. None while a claim is under way: its row may be there already
    /// and must not be mistaken for one whose reply was lost.
    [[nodiscard]] std::optional<std::uint64_t> begin_comparison() const;
    /// None when a claim has begun since.
    [[nodiscard]] std::optional<Difference> compare(std::uint64_t comparison,
                                                    std::span<const store::OwnClaim> rows) const;

private:
    mutable base::Mutex mutex_;
    std::unordered_map<ClaimToken, std::size_t> claims_ PAWL_GUARDED_BY(mutex_);
    int under_way_ PAWL_GUARDED_BY(mutex_) = 0;
    std::uint64_t begun_ PAWL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pawl::runtime
