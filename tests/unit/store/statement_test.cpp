#include "store/pg/statement.hpp"

#include <gtest/gtest.h>

#include <pawl/errors.hpp>

namespace pawl::store::pg {
namespace {

TEST(WithSchema, replaces_both_marks_and_nothing_else) {
    EXPECT_EQ(with_schema("select @schema@.f(@schema_text@), a @> b, '@schema'", "pawl"),
              "select \"pawl\".f('pawl'), a @> b, '@schema'");
}

TEST(WithSchema, does_not_look_into_what_it_put_in) {
    EXPECT_EQ(with_schema("@schema@", "@schema_text@"), "\"@schema_text@\"");
}

TEST(WithSchema, quotes_any_name) {
    EXPECT_EQ(with_schema("@schema@ @schema_text@", R"(A "b".c)"), R"("A ""b"".c" 'A "b".c')");
    EXPECT_EQ(with_schema("@schema@ @schema_text@", "it's"), R"("it's" 'it''s')");
    EXPECT_EQ(with_schema("(@schema_text@)", R"(back\slash)"), R"(( E'back\\slash'))");
    EXPECT_EQ(with_schema("@schema@", "\xF0\x9F\xA6\x95"), "\"\xF0\x9F\xA6\x95\"");
}

TEST(WithSchema, refuses_names_that_postgresql_does_not_take) {
    const std::string names[] = {"",         std::string(64, 'x'), std::string("a\0b", 3), "pg_mine", "\xFF",
                                 "\xC0\x80", "\xED\xA0\x80",       "\xF4\x90\x80\x80",     "\xE2\x82"};
    for (const auto& name : names) EXPECT_THROW(validate_schema(name), ConfigError) << name;
    EXPECT_NO_THROW(validate_schema(std::string(63, 'x')));
}

}  // namespace
}  // namespace pawl::store::pg
