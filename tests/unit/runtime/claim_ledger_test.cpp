#include "runtime/claim_ledger.hpp"

#include <chrono>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using runtime::ClaimLedger;
using store::OwnClaim;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClaimLedger, tells_unknown_taken_over_and_missing_claims_apart) {
    ClaimLedger ledger;
    ledger.enter(1, 2);
    ledger.enter(2, 1);
    const auto known = ledger.known();
    const std::vector<OwnClaim> rows{{2, false}, {3, false}, {4, true}};
    const auto difference = ledger.compare(known, rows, 0ns);
    ASSERT_TRUE(difference);
    EXPECT_THAT(difference->unknown, ElementsAre(3));
    EXPECT_THAT(difference->unknown_lost, ElementsAre(4));
    EXPECT_THAT(difference->missing, ElementsAre(1));
}

// A row whose reply is still on its way is not one whose reply was lost: with no fault at all, the node would give its own
// claim back and then run it.
TEST(ClaimLedger, does_not_compare_while_a_claim_is_under_way) {
    ClaimLedger ledger;
    const auto known = ledger.known();
    const std::vector<OwnClaim> rows{{7, false}};
    {
        const ClaimLedger::UnderWay under_way(ledger);
        EXPECT_FALSE(ledger.compare(known, rows, 0ns));
        ledger.enter(7, 1);
    }
    const auto difference = ledger.compare(known, rows, 0ns);
    ASSERT_TRUE(difference);
    EXPECT_THAT(difference->unknown, IsEmpty());
}

// A busy node claims all the time: what was entered since the rows were read is not missing in them, and a claim that begins
// after the comparison does not keep it from ending.
TEST(ClaimLedger, compares_between_the_claims_of_a_busy_node) {
    ClaimLedger ledger;
    ledger.enter(1, 1);
    const auto known = ledger.known();
    const std::vector<OwnClaim> rows{{1, false}, {2, false}};
    { const ClaimLedger::UnderWay replied(ledger); }
    ledger.enter(3, 1);
    const auto difference = ledger.compare(known, rows, 10s);
    ASSERT_TRUE(difference);
    EXPECT_THAT(difference->unknown, ElementsAre(2));
    EXPECT_THAT(difference->missing, IsEmpty());
}

TEST(ClaimLedger, forgets_a_claim_with_its_last_job) {
    ClaimLedger ledger;
    ledger.enter(1, 2);
    ledger.settle(1);
    EXPECT_THAT(ledger.known(), ElementsAre(1));
    ledger.settle(1);
    ledger.settle(1);
    EXPECT_THAT(ledger.known(), IsEmpty());
}

}  // namespace
