#include "failure/utf8.hpp"

#include <algorithm>

namespace pawl::failure {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view cut_mark = "\xE2\x80\xA6";     // U+2026

struct Sequence {
    std::size_t length;  ///< bytes to take or to replace, at least 1
    bool valid;
};

unsigned byte_at(std::string_view text, std::size_t index) { return static_cast<unsigned char>(text[index]); }

bool continues(unsigned byte) { return (byte & 0xC0U) == 0x80U; }

/// The sequence at the front, which does not begin with an ASCII character.
Sequence sequence_at(std::string_view text) {
    const unsigned lead = byte_at(text, 0);
    std::size_t length = 0;
    // The second byte's range excludes overlong forms, surrogates, and what is above U+10FFFF.
    unsigned low = 0x80;
    unsigned high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
    } else {
        return {1, false};
    }
    if (text.size() < 2 || byte_at(text, 1) < low || byte_at(text, 1) > high) return {1, false};
    for (std::size_t i = 2; i < length; ++i) {
        if (i >= text.size() || !continues(byte_at(text, i))) return {i, false};
    }
    return {length, true};
}

bool plain_ascii(unsigned byte) { return (byte >= 0x20 && byte < 0x7F) || byte == '\n' || byte == '\t'; }

// U+0080 to U+009F.
bool c1_control(std::string_view sequence) { return byte_at(sequence, 0) == 0xC2 && byte_at(sequence, 1) < 0xA0; }

}  // namespace

std::string repair_utf8(std::string_view text, std::size_t limit) {
    text = text.substr(0, limit);
    std::string repaired;
    repaired.reserve(text.size());
    while (!text.empty()) {
        const unsigned first = byte_at(text, 0);
        std::size_t taken = 1;
        if (first < 0x80) {
            if (plain_ascii(first)) repaired.push_back(text.front());
        } else {
            const Sequence sequence = sequence_at(text);
            taken = sequence.length;
            if (!sequence.valid) {
                repaired.append(replacement);
            } else if (!c1_control(text)) {
                repaired.append(text.substr(0, taken));
            }
        }
        text.remove_prefix(taken);
    }
    return repaired;
}

std::string cut(std::string text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    std::size_t end = bytes - std::min(bytes, cut_mark.size());
    while (end > 0 && continues(byte_at(text, end))) --end;
    text.resize(end);
    return text.append(cut_mark);
}

}  // namespace pawl::failure
