#include "store/pg/arrays.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>

#include "store/pg/params.hpp"

namespace pawl::store::pg {
namespace {

TEST(Arrays, write_and_read_integers) {
    const std::vector<std::int64_t> values{0, -1, std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()};
    const auto text = array_text(std::span{values});
    EXPECT_EQ(text, "{0,-1,-9223372036854775808,9223372036854775807}");
    EXPECT_EQ(parse_int64_array(text), values);
    EXPECT_EQ(parse_int64_array("{}"), std::vector<std::int64_t>{});
}

TEST(Arrays, write_and_read_odd_strings) {
    const std::vector<std::optional<std::string>> values{"plain",       "",         "NULL",        "null",
                                                         std::nullopt,  "a,b",      "{x}",         "\"q\"",
                                                         "back\\slash", " blanks ", "line\nbreak", "\xF0\x9F\xA6\x95",
                                                         "\\",          "\""};
    EXPECT_EQ(parse_text_array(array_text(std::span{values})), values);
    EXPECT_EQ(parse_text_array("{}"), (std::vector<std::optional<std::string>>{}));
    EXPECT_EQ(parse_text_array("{a,NULL,\"b\"}"), (std::vector<std::optional<std::string>>{"a", std::nullopt, "b"}));
}

TEST(Arrays, refuse_what_is_no_array_of_one_dimension) {
    for (const char* text :
         {"", "{", "}", "1,2", "{1,}", "{,1}", "{1;2}", "{NULL}", "{{1}}", "{9223372036854775808}"}) {
        EXPECT_FALSE(parse_int64_array(text)) << text;
    }
    for (const char* text : {"", "{", "{\"a}", "{\"a\\", "{{a}}", "{a,}", "{\"a\"b}", "{,a}"}) {
        EXPECT_FALSE(parse_text_array(text)) << text;
    }
}

TEST(Params, refuse_a_nul_byte_anywhere) {
    const std::string text{"a\0b", 3};
    EXPECT_THROW(Params{}.add(text), StoreError);
    EXPECT_THROW(Params{}.add(std::string_view{text}), StoreError);
    EXPECT_THROW(Params{}.add(std::optional{text}), StoreError);
    EXPECT_THROW(Params{}.add(std::vector<std::string>{"x", text}), StoreError);
    EXPECT_THROW(Params{}.add(std::vector<std::optional<std::string>>{text}), StoreError);
}

TEST(Params, are_text_in_the_order_of_adding) {
    const auto params = Params{}
                            .add(7)
                            .add(true)
                            .add("x")
                            .add(std::optional<std::int64_t>{})
                            .add(1.5)
                            .add(Time{std::chrono::microseconds{12}})
                            .add(Duration{std::chrono::milliseconds{2}})
                            .add(std::vector<bool>{true, false})
                            .add(std::vector<std::int32_t>{1, 2});
    const std::vector<std::optional<std::string>> expected{"7",  "t",    "x",     std::nullopt, "1.5",
                                                           "12", "2000", "{t,f}", "{1,2}"};
    EXPECT_EQ(params.values(), expected);
}

}  // namespace
}  // namespace pawl::store::pg
