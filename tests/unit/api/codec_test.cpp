#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/codec.hpp>
#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/json.hpp>

namespace declared {

struct Invoice {
    std::int64_t id{};
    std::string currency;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Invoice, id, currency)
};

}  // namespace declared

PAWL_JOB(declared::Invoice);
PAWL_JOB_JSON(declared::Invoice);

namespace {

using pawl::Codec;
using pawl::PayloadError;
using namespace std::string_literals;
using namespace std::string_view_literals;

struct Numbers {
    std::int8_t i8{};
    std::uint8_t u8{};
    std::int32_t i32{};
    std::uint32_t u32{};
    std::int64_t i64{};
    std::uint64_t u64{};
    float f{};
    double d{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(Numbers, i8, u8, i32, u32, i64, u64, f, d)
};

struct Order {
    std::string note;
    std::vector<Numbers> lines;
    std::map<std::string, double> prices;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Order, note, lines, prices)
};

struct Nothing {};

/// Takes at most 10, whatever is stored.
struct Bounded {
    int tries{};
};
void to_json(nlohmann::json& json, const Bounded& value) { json = {{"tries", value.tries}}; }
void from_json(const nlohmann::json& json, Bounded& value) { value.tries = std::min(json.at("tries").get<int>(), 10); }

struct View {
    std::string_view text;
};
void to_json(nlohmann::json& json, const View& value) { json = {{"text", value.text}}; }
void from_json(const nlohmann::json& json, View& value) { value.text = json.at("text").get_ref<const std::string&>(); }

template <class T>
std::string refused_field(const T& value) {
    try {
        static_cast<void>(Codec<T>::encode(value));
    } catch (const pawl::ConfigError& error) {
        return std::string(error.field());
    }
    return "accepted";
}

TEST(Codec, keeps_64_bit_integers_exact) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-1}, (std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max()}) {
        Numbers numbers;
        numbers.i64 = value;
        numbers.u64 = static_cast<std::uint64_t>(value);
        const auto back = Codec<Numbers>::decode(Codec<Numbers>::encode(numbers));
        EXPECT_EQ(back.i64, numbers.i64);
        EXPECT_EQ(back.u64, numbers.u64);
    }
}

TEST(Codec, keeps_floats_and_doubles) {
    for (const double value : {0.1, -1.5e300, 5e-324, 3.0}) {
        Numbers numbers;
        numbers.d = value;
        numbers.f = 0.1F;
        const auto back = Codec<Numbers>::decode(Codec<Numbers>::encode(numbers));
        EXPECT_EQ(back.d, value);
        EXPECT_EQ(back.f, 0.1F);
    }
}

TEST(Codec, refuses_numbers_that_are_not_finite_and_names_the_place) {  // B170
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()}) {
        Order order;
        order.lines.resize(2);
        order.lines[1].d = value;
        EXPECT_EQ(refused_field(order), "payload.lines[1].d");
        order.lines.clear();
        order.prices["eur"] = value;
        EXPECT_EQ(refused_field(order), "payload.prices.eur");
        EXPECT_EQ(refused_field(value), "payload");
    }
}

TEST(Codec, refuses_text_that_is_not_utf8_with_its_place_and_offset) {  // B172
    Order order;
    order.note = "ab\xFF\xFE";
    try {
        static_cast<void>(Codec<Order>::encode(order));
        FAIL();
    } catch (const pawl::ConfigError& error) {
        EXPECT_EQ(error.field(), "payload.note");
        EXPECT_NE(std::string_view(error.what()).find("byte 2"), std::string_view::npos) << error.what();
    }
    order.note = "\xED\xA0\x80";
    EXPECT_EQ(refused_field(order), "payload.note");
    order.note.clear();
    order.prices["x\xC3"] = 1;
    EXPECT_EQ(refused_field(order), "payload.prices.x\\xc3");
}

TEST(Codec, refuses_a_nul_in_values_and_keys) {  // B168
    Order order;
    order.note = "a\0b"s;
    EXPECT_EQ(refused_field(order), "payload.note");
    order.note.clear();
    order.prices["k\0"s] = 1;
    EXPECT_EQ(refused_field(order), "payload.prices.k\\x00");
}

TEST(Codec, names_the_place_of_a_number_that_does_not_fit) {
    try {
        static_cast<void>(Codec<Order>::decode(R"({"note":"","lines":[{},{"u8":300}],"prices":{}})"));
        FAIL();
    } catch (const PayloadError& error) {
        EXPECT_EQ(std::string_view(error.what()), "payload.lines[1].u8 does not fit the type it is decoded to");
    }
}

TEST(Codec, refuses_numbers_that_do_not_fit_their_member) {
    const std::string_view table[] = {
        R"({"u8":300})",
        R"({"u8":-1})",
        R"({"u8":256})",
        R"({"i8":200})",
        R"({"i8":-129})",
        R"({"u32":-1})",
        R"({"u64":-1})",
        R"({"i32":4294967296})",
        R"({"i32":1.5})",
        R"({"i64":0.5})",
        R"({"f":1e300})",
        R"({"i32":2147483648})",
        R"({"i64":18446744073709551615})",
        R"({"u64":18446744073709551616})",
        R"({"i64":1e30})",
    };
    for (const auto text : table) {
        EXPECT_THROW(static_cast<void>(Codec<Numbers>::decode(text)), PayloadError) << text;
    }
}

TEST(Codec, takes_the_bounds_of_each_type) {
    const auto value = Codec<Numbers>::decode(
        R"({"u8":255,"i8":-128,"i32":-2147483648,"u32":4294967295,"u64":18446744073709551615,"i64":-9223372036854775808,"d":3})");
    EXPECT_EQ(value.u8, 255);
    EXPECT_EQ(value.i8, -128);
    EXPECT_EQ(value.u64, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(value.i64, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(value.d, 3.0);
}

TEST(Codec, lets_a_type_bound_and_default_its_members) {
    EXPECT_EQ(Codec<Bounded>::decode(R"({"tries":300})").tries, 10);
    EXPECT_EQ(Codec<Numbers>::decode(R"({"later":[1,2]})").i32, 0);
}

TEST(Codec, refuses_what_is_not_json_with_one_meaning) {  // B173
    for (const auto text : {""sv, "{"sv, R"({"u8":1,"u8":2})"sv, R"({"i8":"\ud800"})"sv, "\xEF\xBB\xBF{}"sv}) {
        EXPECT_THROW(static_cast<void>(Codec<Numbers>::decode(text)), PayloadError) << text;
    }
}

TEST(Codec, stores_a_type_without_members_as_an_empty_object) {
    EXPECT_EQ(Codec<Nothing>::encode({}), "{}");
    static_cast<void>(Codec<Nothing>::decode(R"({"once":"there was"})"));
}

TEST(Codec, stores_a_tuple_as_an_array_also_when_its_parts_are_pairs) {
    using Pairs = std::tuple<std::pair<std::string, int>, std::pair<std::string, int>>;
    const std::string text = Codec<Pairs>::encode({{"a", 1}, {"b", 2}});
    EXPECT_EQ(text, R"([["a",1],["b",2]])");
    EXPECT_EQ(std::get<1>(Codec<Pairs>::decode(text)).second, 2);
    EXPECT_EQ((Codec<std::tuple<Nothing, int>>::encode(std::tuple(Nothing{}, 1))), "[{},1]");
    EXPECT_EQ(Codec<std::tuple<>>::encode({}), "[]");
}

TEST(Codec, names_the_argument_that_cannot_be_decoded) {
    using Two = std::tuple<int, std::string>;
    for (const auto text : {"[1]"sv, "[1,\"a\",2]"sv, "{}"sv, "7"sv, "[300000000000,\"a\"]"sv}) {
        EXPECT_THROW(static_cast<void>(Codec<Two>::decode(text)), PayloadError) << text;
    }
    try {
        static_cast<void>(Codec<Two>::decode("[1,2]"));
        FAIL();
    } catch (const PayloadError& error) {
        EXPECT_EQ(std::string_view(error.what()), "argument 2 cannot be decoded");
    }
}

TEST(Codec, keeps_the_document_for_views_into_it) {
    const std::string text = R"({"text":"a text that is too long to be kept in place"})";
    pawl::detail::Document document;
    const View view = pawl::detail::decode<View>(text, document);
    EXPECT_NE(document, nullptr);
    EXPECT_EQ(view.text, "a text that is too long to be kept in place");
}

TEST(Codec, can_be_declared_in_one_file_and_defined_in_another) {
    const auto text = Codec<declared::Invoice>::encode({7, "EUR"});
    EXPECT_EQ(text, R"({"currency":"EUR","id":7})");
    EXPECT_EQ(Codec<declared::Invoice>::decode(text).id, 7);
    EXPECT_THROW(static_cast<void>(Codec<declared::Invoice>::decode(R"({"id":1.5,"currency":""})")), PayloadError);
}

TEST(Codec, takes_plain_values_as_results) {
    EXPECT_EQ(Codec<int>::encode(7), "7");
    EXPECT_EQ(Codec<std::string>::encode("a"), "\"a\"");
    EXPECT_EQ(Codec<std::vector<int>>::encode({1, 2}), "[1,2]");
}

}  // namespace
