#include "model/json_text.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

using pawl::model::check_json;
using pawl::model::find_narrowed;
using namespace std::string_view_literals;

namespace {

std::string levels(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(CheckJson, takes_every_kind_of_value) {  // B173
    const std::string padded = std::string(1 << 20, ' ') + "{}";
    for (const std::string_view text :
         {R"({})"sv, R"([])"sv, R"("")"sv, R"(null)"sv, R"(0)"sv, R"(-0.5e-3)"sv, R"(true)"sv, R"(1e-999)"sv,
          R"( { "a" : [ 1 , {"b": null} ] } )"sv, R"("\ud83d\ude42 \u00e9 \n")"sv, R"({"a":{"k":1},"b":{"k":2}})"sv,
          R"(18446744073709551615)"sv, R"(1.7976931348623157e308)"sv, std::string_view(padded)}) {
        EXPECT_FALSE(check_json(text)) << text.substr(0, 80);
    }
    EXPECT_FALSE(check_json(levels(512)));
}

TEST(CheckJson, names_what_is_wrong_and_where) {
    const struct {
        std::string_view text;
        std::string_view path;
        std::string_view what;
    } table[] = {
        {"", "", "is not JSON"},
        {"\xEF\xBB\xBF{}", "", "is not JSON"},
        {"{} {}", "", "more text"},
        {"{", "", "is not JSON"},
        {"[1,]", "[1]", "is not JSON"},
        {"01", "", "is not JSON"},
        {"1.", "", "is not JSON"},
        {"+1", "", "is not JSON"},
        {"NaN", "", "is not JSON"},
        {"nul", "", "is not JSON"},
        {R"({"a" 1})", "", "colon"},
        {R"({a:1})", "", "key"},
        {R"("\x")", "", "escape"},
        {R"("\u12g4")", "", "escape"},
        {R"("open)", "", "does not end"},
        {"\"a\nb\"", "", "control character"},
        // B168
        {R"({"a":[1,{"b":"x\u0000"}]})", ".a[1].b", "NUL"},
        {R"({"a\u0000":1})", "", "NUL"},
        {"{\"a\":\"x\0\"}"sv, ".a", "NUL"},
        // B172
        {"{\"a\":\"\xFF\xFE\"}", ".a", "UTF-8 (byte 6)"},
        {R"({"a":"\ud800"})", ".a", "lone surrogate"},
        {R"({"a":"\ud800\u0041"})", ".a", "lone surrogate"},
        {R"({"a":"\udc00"})", ".a", "lone surrogate"},
        {"\"\xED\xA0\x80\"", "", "UTF-8"},
        // B173
        {R"({"a":{"k":1,"x":2,"k":3}})", ".a.k", "twice"},
        {R"({"k":1,"\u006b":3})", ".k", "twice"},
        {R"({"a":1e999})", ".a", "too large"},
    };
    for (const auto& row : table) {
        const auto problem = check_json(row.text);
        ASSERT_TRUE(problem) << row.text;
        EXPECT_EQ(problem->path, row.path) << row.text;
        EXPECT_NE(problem->what.find(row.what), std::string::npos) << row.text << ": " << problem->what;
    }
    EXPECT_TRUE(check_json(levels(514)));
    EXPECT_TRUE(check_json(std::string(1'000'000, '[')));
}

TEST(CheckJson, shows_odd_keys_so_that_a_log_can_hold_them) {
    const auto problem = check_json("{\"a\\nb\":\"\xFF\"}");
    ASSERT_TRUE(problem);
    EXPECT_EQ(problem->path, ".a\\x0ab");
}

TEST(FindNarrowed, tells_what_did_not_fit_from_what_was_changed_on_purpose) {
    const struct {
        std::string_view stored;
        std::string_view decoded;
        bool narrowed;
    } table[] = {
        {R"({"n":300})", R"({"n":44})", true},
        {R"({"n":200})", R"({"n":-56})", true},
        {R"({"n":-1})", R"({"n":255})", true},
        {R"({"n":-1})", R"({"n":4294967295})", true},
        {R"({"n":-1})", R"({"n":18446744073709551615})", true},
        {R"({"n":18446744073709551615})", R"({"n":-1})", true},
        {R"({"n":4294967296})", R"({"n":0})", true},
        {R"({"n":1.5})", R"({"n":1})", true},
        {R"({"n":1e300})", R"({"n":0})", true},
        {R"({"n":1e300})", R"({"n":null})", true},
        {R"({"a":[1,{"n":70000}]})", R"({"a":[1,{"n":4464}]})", true},
        {R"([-1])", R"([18446744073709551615])", true},
        // Bounds, defaults, and members that the type does not have.
        {R"({"n":300})", R"({"n":100})", false},
        {R"({"n":300})", R"({"m":44})", false},
        {R"({"n":null})", R"({"n":44})", false},
        {R"({"n":"300"})", R"({"n":44})", false},
        {R"({"n":3})", R"({"n":3.0})", false},
        {R"({"n":0.1})", R"({"n":0.10000000149011612})", false},
        {R"({"n":9007199254740993})", R"({"n":9007199254740992.0})", false},
        // A set that was sorted.
        {R"([257,1])", R"([1,257])", false},
        {R"([1,2,3])", R"([1,2])", false},
    };
    for (const auto& row : table) {
        EXPECT_EQ(find_narrowed(row.stored, row.decoded).has_value(), row.narrowed) << row.stored << " " << row.decoded;
    }
}

}  // namespace
