#include "failure/utf8.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace std::string_literals;
using pawl::failure::cut;
using pawl::failure::repair_utf8;

// B040, B042
TEST(RepairUtf8, leaves_only_what_can_be_stored) {
    const std::string wrong = "\xEF\xBF\xBD";
    struct Row {
        std::string text;
        std::string repaired;
    };
    const std::vector<Row> rows{
        {"plain\ttext\n", "plain\ttext\n"},
        {"a\0b"s, "ab"},                             // B040
        {"\xE9t\xE9", wrong + "t" + wrong},          // B042, Latin-1
        {"\x1B[31mred\x07\r", "[31mred"},            // a terminal escape
        {"x\x7Fy\xC2\x85z\xC2\xA0", "xyz\xC2\xA0"},  // DEL, C1; U+00A0 is none
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\xC0\xAF", wrong + wrong},                          // overlong
        {"\xED\xA0\x80", wrong + wrong + wrong},              // a surrogate
        {"\xF4\x90\x80\x80", wrong + wrong + wrong + wrong},  // above U+10FFFF
        {"\xF0\x9F\x98", wrong},                              // cut off at the end
        {"\xE2\x82x", wrong + "x"},                           // cut off in the middle
        {"", ""},
    };
    for (const Row& row : rows) EXPECT_EQ(repair_utf8(row.text), row.repaired);
}

TEST(Cut, ends_at_a_character_and_with_a_mark) {
    EXPECT_EQ(cut("short", 64), "short");
    EXPECT_EQ(cut(std::string(64, 'x'), 64), std::string(64, 'x'));
    EXPECT_EQ(cut(std::string(65, 'x'), 64), std::string(61, 'x') + "\xE2\x80\xA6");
    const std::string euros = "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC";
    EXPECT_EQ(cut(euros, 8), "\xE2\x82\xAC\xE2\x80\xA6");
}
