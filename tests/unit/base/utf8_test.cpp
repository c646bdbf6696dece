#include "base/utf8.hpp"

#include <string_view>

#include <gtest/gtest.h>

using pawl::base::find_control;
using pawl::base::find_invalid_utf8;
using namespace std::string_view_literals;

namespace {

constexpr auto npos = std::string_view::npos;

TEST(Utf8, names_the_first_byte_that_is_not_part_of_a_character) {
    const struct {
        std::string_view text;
        std::size_t at;
    } table[] = {
        {"", npos},
        {"plain", npos},
        {"\0"sv, npos},
        {"gr\xC3\xBC\xC3\x9F", npos},
        {"\xE2\x82\xAC", npos},
        {"\xF0\x9F\x99\x82", npos},
        {"\xED\x9F\xBF", npos},
        {"\xEE\x80\x80", npos},
        {"\xF4\x8F\xBF\xBF", npos},
        {"ab\xFF", 2},
        {"a\x80", 1},
        {"\xC0\x80", 0},
        {"\xC1\xBF", 0},
        {"\xE0\x9F\xBF", 0},
        {"\xED\xA0\x80", 0},
        {"\xF0\x8F\xBF\xBF", 0},
        {"\xF4\x90\x80\x80", 0},
        {"\xF5\x80\x80\x80", 0},
        {"ok\xC3", 2},
        {"ok\xE2\x82", 2},
        {"ok\xF0\x9F\x99", 2},
        {"\xC3(", 0},
    };
    for (const auto& row : table) EXPECT_EQ(find_invalid_utf8(row.text), row.at) << row.text;
}

TEST(Utf8, finds_the_control_characters_of_both_ranges) {
    EXPECT_EQ(find_control("plain \xC2\xA0 \xE2\x82\xAC"), npos);
    EXPECT_EQ(find_control("a\0b"sv), 1U);
    EXPECT_EQ(find_control("a\n"), 1U);
    EXPECT_EQ(find_control("\x7F"), 0U);
    EXPECT_EQ(find_control("ab\xC2\x85"), 2U);
}

}  // namespace
