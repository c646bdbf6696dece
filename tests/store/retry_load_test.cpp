#include <vector>

#include <gmock/gmock.h>

#include "store/pg/params.hpp"
#include "support/store.hpp"

namespace {

using namespace pawl;
using store::KindLoad;
using store::NodeId;
using store::pg::Params;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RetryLoads : public tests::StoreTest {
protected:
    std::vector<KindLoad> share(NodeId by, int kind, model::RetryLoad load) {
        const std::vector<KindLoad> own{{kind, load}};
        return store().share_retry_loads(by, own);
    }
};

TEST_F(RetryLoads, of_all_other_nodes_are_summed_by_kind) {
    const NodeId second = register_node();
    const NodeId third = register_node();
    EXPECT_THAT(share(node(), 1, {10, 1}), IsEmpty());
    EXPECT_THAT(share(node(), 2, {7, 7}), IsEmpty());
    EXPECT_THAT(share(second, 1, {20, 2}), SizeIs(1));
    const auto others = share(third, 1, {0, 0});
    ASSERT_THAT(others, SizeIs(1));
    EXPECT_EQ(others[0].kind, 1);
    EXPECT_EQ(others[0].load.first_runs, 30);
    EXPECT_EQ(others[0].load.retries, 3);
}

TEST_F(RetryLoads, are_what_was_said_last_and_not_long_ago) {
    const NodeId other = register_node();
    (void)share(other, 1, {10, 1});
    (void)share(other, 1, {11, 2});
    EXPECT_EQ(share(node(), 1, {}).at(0).load.first_runs, 11);
    sql("update @schema@.retry_load set said_at = clock_timestamp() - interval '61 seconds' where node = $1",
        Params{}.add(other));
    EXPECT_THAT(share(node(), 1, {}), IsEmpty());
    sql("update @schema@.retry_load set said_at = clock_timestamp() - interval '11 minutes' where node = $1",
        Params{}.add(other));
    (void)share(node(), 1, {});
    EXPECT_EQ(number("select count(*) from @schema@.retry_load"), 1);
}

TEST_F(RetryLoads, of_no_kinds_are_no_loads) { EXPECT_THAT(store().share_retry_loads(node(), {}), IsEmpty()); }

}  // namespace
