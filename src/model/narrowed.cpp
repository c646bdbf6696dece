#include <algorithm>
#include <cmath>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "model/json_text.hpp"

namespace pawl::model {

namespace {

using Json = nlohmann::json;
using Place = detail::JsonPlace;

/// What is left of a number in a type of so many bits: the same low bits, and within the type's range.
bool cut_to(std::uint64_t from, std::uint64_t to, bool to_negative, unsigned bits) {
    if (bits == 64) return from == to;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    if ((from & mask) != (to & mask)) return false;
    if (to_negative) return (to | (mask >> 1U)) == ~std::uint64_t{0};
    return to <= mask;
}

std::uint64_t bits_of(const Json& number) {
    return number.is_number_unsigned() ? number.get<std::uint64_t>()
                                       : static_cast<std::uint64_t>(number.get<std::int64_t>());
}

/// To nlohmann_json's own comparison, -1 is equal to 18446744073709551615.
bool less_than_zero(const Json& number) {
    if (number.is_number_unsigned()) return false;
    return number.is_number_float() ? number.get<double>() < 0 : number.get<std::int64_t>() < 0;
}

bool narrowed_number(const Json& stored, const Json& decoded) {
    const bool negative = less_than_zero(decoded);
    if (stored == decoded && less_than_zero(stored) == negative) return false;
    if (decoded.is_number_float()) return !std::isfinite(decoded.get<double>());
    if (stored.is_number_float()) {
        const double whole = std::trunc(stored.get<double>());
        return std::abs(whole) >= 9.2e18 || whole == decoded.get<double>();
    }
    return std::ranges::any_of(std::initializer_list<unsigned>{8, 16, 32, 64}, [&](unsigned bits) {
        return cut_to(bits_of(stored), bits_of(decoded), negative, bits);
    });
}

/// Sets come back in another order.
bool same_elements(const Json& stored, const Json& decoded) {
    auto a = stored.get<Json::array_t>();
    auto b = decoded.get<Json::array_t>();
    std::ranges::sort(a);
    std::ranges::sort(b);
    return std::ranges::equal(a, b, [](const Json& left, const Json& right) {
        return left == right && (!left.is_number() || less_than_zero(left) == less_than_zero(right));
    });
}

std::optional<JsonProblem> compare(const Json& stored, const Json& decoded, const Place& place) {
    // A number that is not finite is written as null: a float has overflowed.
    if (stored.is_number_float() && decoded.is_null())
        return JsonProblem{path_of(place), "does not fit the type it is decoded to"};
    if (stored.is_number() && decoded.is_number()) {
        if (!narrowed_number(stored, decoded)) return std::nullopt;
        return JsonProblem{path_of(place), "does not fit the type it is decoded to"};
    }
    if (stored.is_object() && decoded.is_object()) {
        for (const auto& [key, value] : stored.get_ref<const Json::object_t&>()) {
            const auto found = decoded.find(key);
            if (found == decoded.end()) continue;
            if (auto problem = compare(value, *found, {&place, key, 0, false})) return problem;
        }
    }
    if (stored.is_array() && decoded.is_array() && stored.size() == decoded.size() && !same_elements(stored, decoded)) {
        for (std::size_t i = 0; i < stored.size(); ++i) {
            if (auto problem = compare(stored[i], decoded[i], {&place, {}, i, true})) return problem;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<JsonProblem> find_narrowed(std::string_view stored, std::string_view decoded) {
    return compare(Json::parse(stored), Json::parse(decoded), {});
}

}  // namespace pawl::model
