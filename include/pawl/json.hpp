#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <pawl/codec.hpp>
#include <pawl/detail/json_checks.hpp>

// The default codec, for everything that nlohmann_json can convert. It refuses what nlohmann_json lets pass: when encoding,
// numbers that are not finite, text that is not UTF-8, and NUL; when decoding, repeated keys, and numbers that do not fit
// the member they are meant for.

namespace pawl {

namespace detail {

inline void require_values(const nlohmann::json& value, const JsonPlace& place) {
    using Json = nlohmann::json;
    switch (value.type()) {
        case Json::value_t::number_float:
            if (!std::isfinite(*value.get_ptr<const Json::number_float_t*>()))
                refuse_value(place, "must be a finite number");
            break;
        case Json::value_t::string:
            require_text(place, *value.get_ptr<const Json::string_t*>());
            break;
        case Json::value_t::array: {
            std::size_t index = 0;
            for (const Json& element : *value.get_ptr<const Json::array_t*>()) {
                require_values(element, {&place, {}, index++, true});
            }
            break;
        }
        case Json::value_t::object:
            for (const auto& [key, member] : *value.get_ptr<const Json::object_t*>()) {
                const JsonPlace inner{&place, key, 0, false};
                require_text(inner, key);
                require_values(member, inner);
            }
            break;
        case Json::value_t::binary:
        case Json::value_t::discarded:
            refuse_value(place, "must be JSON");
        default:
            break;
    }
}

inline std::string json_text(const nlohmann::json& value) {
    require_values(value, {});
    return value.dump();
}

/// **Throws** `PayloadError` for what is no JSON, or has repeated keys.
inline std::shared_ptr<const nlohmann::json> parse_json(std::string_view text) {
    require_json(text);
    return std::make_shared<const nlohmann::json>(nlohmann::json::parse(text));
}

[[nodiscard]] inline bool negative(const nlohmann::json& number) {
    return number.type() == nlohmann::json::value_t::number_integer &&
           *number.get_ptr<const nlohmann::json::number_integer_t*>() < 0;
}

/// Whether two documents are equal. To nlohmann_json's own comparison, -1 is equal to 18446744073709551615.
[[nodiscard]] inline bool same_values(const nlohmann::json& a, const nlohmann::json& b) {
    using Json = nlohmann::json;
    if (a.is_object() && b.is_object()) {
        const auto& left = *a.get_ptr<const Json::object_t*>();
        const auto& right = *b.get_ptr<const Json::object_t*>();
        if (left.size() != right.size()) return false;
        for (auto x = left.begin(), y = right.begin(); x != left.end(); ++x, ++y) {
            if (x->first != y->first || !same_values(x->second, y->second)) return false;
        }
        return true;
    }
    if (a.is_array() && b.is_array()) {
        const auto& left = *a.get_ptr<const Json::array_t*>();
        const auto& right = *b.get_ptr<const Json::array_t*>();
        if (left.size() != right.size()) return false;
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (!same_values(left[i], right[i])) return false;
        }
        return true;
    }
    return a == b && negative(a) == negative(b);
}

inline void require_same(std::string_view text, const nlohmann::json& stored, const nlohmann::json& decoded) {
    if (!same_values(stored, decoded)) {
        require_exact(text, decoded.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
}

template <class T>
concept ToJson = std::is_constructible_v<nlohmann::json, const T&>;
template <class T>
concept FromJson = requires(const nlohmann::json& value) {
    value.get<T>();
};

template <class T>
nlohmann::json to_json_value(const T& value) {
    if constexpr (std::is_empty_v<T> && !ToJson<T>) {
        return nlohmann::json::object();
    } else {
        return nlohmann::json(value);
    }
}

template <class T>
T from_json_value(const nlohmann::json& value) {
    if constexpr (std::is_empty_v<T> && !FromJson<T>) {
        return T{};
    } else {
        return value.get<T>();
    }
}

}  // namespace detail

template <class T>
    requires((detail::ToJson<T> || detail::FromJson<T>)&&!detail::is_tuple<T> &&
             !(std::is_empty_v<T> && std::default_initializable<T>))
struct Codec<T> {
    static std::string encode(const T& value) requires detail::ToJson<T> {
        return detail::json_text(nlohmann::json(value));
    }

    /// For a type that holds views, take the other one.
    static T decode(std::string_view text) requires detail::FromJson<T> {
        detail::Document document;
        return decode(text, document);
    }

    static T decode(std::string_view text, detail::Document& document) requires detail::FromJson<T> {
        const auto stored = detail::parse_json(text);
        document = stored;
        T value = stored->template get<T>();
        if constexpr (detail::ToJson<T>) detail::require_same(text, *stored, nlohmann::json(value));
        return value;
    }
};

/// An array. nlohmann_json would make an object of a tuple of pairs.
template <class First, class... Rest>
struct Codec<std::tuple<First, Rest...>> {
    using Tuple = std::tuple<First, Rest...>;

    static std::string encode(const Tuple& values) { return detail::json_text(array(values)); }

    static Tuple decode(std::string_view text) {
        detail::Document document;
        return decode(text, document);
    }

    static Tuple decode(std::string_view text, detail::Document& document) {
        const auto stored = detail::parse_json(text);
        document = stored;
        constexpr std::size_t wanted = 1 + sizeof...(Rest);
        if (!stored->is_array() || stored->size() != wanted) detail::refuse_arguments(wanted, stored->size());
        Tuple values = elements(*stored, std::make_index_sequence<wanted>{});
        detail::require_same(text, *stored, array(values));
        return values;
    }

private:
    static nlohmann::json array(const Tuple& values) {
        auto result = nlohmann::json::array();
        std::apply([&](const auto&... value) { (result.push_back(detail::to_json_value(value)), ...); }, values);
        return result;
    }

    template <std::size_t... I>
    static Tuple elements(const nlohmann::json& stored, std::index_sequence<I...>) {
        // Braces, because they are evaluated in order.
        return Tuple{element<std::tuple_element_t<I, Tuple>>(stored, I)...};
    }

    template <class T>
    static T element(const nlohmann::json& stored, std::size_t index) {
        try {
            return detail::from_json_value<T>(stored[index]);
        } catch (const nlohmann::json::exception&) {
            detail::refuse_argument(index);
        }
    }
};

}  // namespace pawl

/// Defines what `PAWL_JOB` declared, in one source file and outside of every namespace.
#define PAWL_JOB_JSON(Type)                                                                   \
    std::string pawl::Codec<Type>::encode(const Type& value) {                                \
        return pawl::detail::json_text(nlohmann::json(value));                                \
    }                                                                                         \
    Type pawl::Codec<Type>::decode(std::string_view text) {                                   \
        pawl::detail::Document document;                                                      \
        return decode(text, document);                                                        \
    }                                                                                         \
    Type pawl::Codec<Type>::decode(std::string_view text, pawl::detail::Document& document) { \
        const auto stored = pawl::detail::parse_json(text);                                   \
        document = stored;                                                                    \
        Type value = stored->get<Type>();                                                     \
        pawl::detail::require_same(text, *stored, nlohmann::json(value));                     \
        return value;                                                                         \
    }                                                                                         \
    static_assert(true, "a semicolon follows")
