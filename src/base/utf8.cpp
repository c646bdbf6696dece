#include "base/utf8.hpp"

namespace pawl::base {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) noexcept { return static_cast<unsigned char>(text[at]); }

bool continues(std::string_view text, std::size_t at) noexcept {
    return at < text.size() && (byte_at(text, at) & 0xC0U) == 0x80U;
}

}  // namespace

// The ranges of the second byte are those of the Unicode Standard, table 3-7.
std::size_t utf8_length(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const unsigned first = byte_at(text, 0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4 || !continues(text, 1)) return 0;
    if (first < 0xE0) return 2;

    const unsigned second = byte_at(text, 1);
    if (!continues(text, 2)) return 0;
    if (first < 0xF0) {
        if (first == 0xE0 && second < 0xA0) return 0;
        if (first == 0xED && second > 0x9F) return 0;
        return 3;
    }
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    return continues(text, 3) ? 4 : 0;
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = byte_at(text, at) < 0x80 ? 1 : utf8_length(text.substr(at));
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

std::size_t find_control(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const unsigned byte = byte_at(text, at);
        if (byte < 0x20 || byte == 0x7F) return at;
        if (byte == 0xC2 && at + 1 < text.size() && byte_at(text, at + 1) < 0xA0) return at;
    }
    return std::string_view::npos;
}

}  // namespace pawl::base
