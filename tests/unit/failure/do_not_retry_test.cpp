#include <exception>
#include <stdexcept>

#include <gtest/gtest.h>

#include <pawl/do_not_retry.hpp>

#include "failure/marks.hpp"
#include "unit/failure/failing_job.hpp"

using namespace pawl;
using failure::mark_on;

namespace {

struct Declined : std::runtime_error {
    using runtime_error::runtime_error;
};
struct Expired : Declined {
    using Declined::Declined;
};
struct Final final : std::runtime_error {
    using runtime_error::runtime_error;
};
enum class Refusal { closed };

class Outer {
    struct Hidden {};
    friend struct pawl::DoNotRetry<Hidden>;

public:
    static std::exception_ptr hidden() { return std::make_exception_ptr(Hidden{}); }
    static const std::type_info& hidden_type() { return typeid(Hidden); }
};

}  // namespace

template <>
struct pawl::DoNotRetry<Declined> : pawl::permanent<Declined, "declined by the issuer"> {};
template <>
struct pawl::DoNotRetry<Outer::Hidden> : pawl::permanent<Outer::Hidden, "hidden"> {};
PAWL_DO_NOT_RETRY(Final, "final");
PAWL_DO_NOT_RETRY(Refusal, "refused");

TEST(DoNotRetry, is_known_without_being_mentioned) {
    EXPECT_EQ(mark_on(typeid(Declined)), "declined by the issuer");
    EXPECT_EQ(mark_on(typeid(Final)), "final");
    EXPECT_EQ(mark_on(typeid(Refusal)), "refused");
    EXPECT_EQ(mark_on(Outer::hidden_type()), "hidden");
    static_assert(DoNotRetry<Declined>::marked && !DoNotRetry<Expired>::marked);
}

TEST(DoNotRetry, is_not_inherited) { EXPECT_FALSE(mark_on(typeid(Expired))); }

TEST(DoNotRetry, counts_what_throw_with_nested_makes_of_the_type) {
    const auto error = failure::testing::nested(Declined("no"), std::make_exception_ptr(1));
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
        EXPECT_NE(typeid(thrown), typeid(Declined));
        EXPECT_EQ(mark_on(typeid(thrown)), "declined by the issuer");
    }
}

TEST(DoNotRetry, ends_with_the_life_of_its_mark) {
    struct Local {};
    {
        const detail::Mark mark(typeid(Local), nullptr, "local");
        EXPECT_EQ(mark_on(typeid(Local)), "local");
        const detail::Mark again(typeid(Local), nullptr, "again");
    }
    EXPECT_FALSE(mark_on(typeid(Local)));
    EXPECT_TRUE(mark_on(typeid(Declined)));
}
