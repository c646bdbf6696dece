#include "store/pg/arrays.hpp"

#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

namespace pawl::store::pg {

namespace {

void append(std::string& out, std::int64_t value) {
    char digits[std::numeric_limits<std::int64_t>::digits10 + 2];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    out.append(digits, end);
}

// Every string is quoted: unquoted ones would need the whole list of exceptions (empty, the word NULL, blanks, commas,
// braces).
void append(std::string& out, std::string_view value) {
    out += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    out += '"';
}

template <class T>
void append(std::string& out, const std::optional<T>& value) {
    if (value) {
        append(out, *value);
    } else {
        out += "NULL";
    }
}

template <class T>
void reserve(std::string& out, std::span<const T> values) {
    if constexpr (std::is_arithmetic_v<T>) {
        out.reserve(2 + 8 * values.size());
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
        std::size_t total = 2;
        for (const std::string_view value : values) total += value.size() + value.size() / 8 + 3;
        out.reserve(total);
    }
}

template <class T>
std::string build(std::span<const T> values) {
    std::string out;
    reserve(out, values);
    out += '{';
    for (const auto& value : values) {
        if (out.size() > 1) out += ',';
        append(out, value);
    }
    out += '}';
    return out;
}

}  // namespace

std::string array_text(std::span<const std::int64_t> values) { return build(values); }
std::string array_text(std::span<const std::int32_t> values) { return build(values); }
std::string array_text(std::span<const std::int16_t> values) { return build(values); }
std::string array_text(std::span<const std::optional<std::int64_t>> values) { return build(values); }
std::string array_text(std::span<const std::string> values) { return build(values); }
std::string array_text(std::span<const std::string_view> values) { return build(values); }
std::string array_text(std::span<const std::optional<std::string>> values) { return build(values); }

std::string array_text(const std::vector<bool>& values) {
    std::string out{'{'};
    for (const bool value : values) {
        if (out.size() > 1) out += ',';
        out += value ? 't' : 'f';
    }
    out += '}';
    return out;
}

std::optional<std::vector<std::int64_t>> parse_int64_array(std::string_view text) {
    std::vector<std::int64_t> result;
    if (text == "{}") return result;
    if (text.size() < 3 || text.front() != '{' || text.back() != '}') return std::nullopt;
    const char* at = text.data() + 1;
    const char* const end = text.data() + text.size() - 1;
    for (;;) {
        std::int64_t value{};
        const auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc{}) return std::nullopt;
        result.push_back(value);
        if (next == end) return result;
        if (*next != ',') return std::nullopt;
        at = next + 1;
    }
}

std::optional<std::vector<std::optional<std::string>>> parse_text_array(std::string_view text) {
    std::vector<std::optional<std::string>> result;
    if (text == "{}") return result;
    if (text.size() < 3 || text.front() != '{' || text.back() != '}') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    for (std::size_t i = 0;;) {
        std::string value;
        if (i < text.size() && text[i] == '"') {
            for (++i; i < text.size() && text[i] != '"'; ++i) {
                if (text[i] == '\\' && ++i == text.size()) return std::nullopt;
                value += text[i];
            }
            if (i == text.size()) return std::nullopt;
            ++i;
            result.emplace_back(std::move(value));
        } else {
            for (; i < text.size() && text[i] != ','; ++i) {
                if (text[i] == '{' || text[i] == '}' || text[i] == '"') return std::nullopt;
                value += text[i];
            }
            if (value.empty()) return std::nullopt;
            if (value == "NULL") {
                result.emplace_back(std::nullopt);
            } else {
                result.emplace_back(std::move(value));
            }
        }
        if (i == text.size()) return result;
        if (text[i] != ',') return std::nullopt;
        ++i;
    }
}

}  // namespace pawl::store::pg
