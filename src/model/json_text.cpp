#include "model/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <system_error>
#include <vector>

#include "base/utf8.hpp"
#include "model/shown.hpp"

namespace pawl::model {

namespace {

constexpr int deepest = 512;

struct Refused {
    JsonProblem problem;
};

class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    void scan() {
        value({}, 0);
        skip_space();
        if (at_ < text_.size()) fail({}, "is followed by more text");
    }

private:
    using Place = detail::JsonPlace;

    [[noreturn]] void fail(const Place& place, std::string_view what) const {
        throw Refused{{path_of(place), std::string(what) + " (byte " + std::to_string(at_) + ")"}};
    }

    [[nodiscard]] bool done() const noexcept { return at_ >= text_.size(); }
    [[nodiscard]] char peek() const noexcept { return done() ? '\0' : text_[at_]; }

    void skip_space() noexcept {
        while (!done() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
    }

    [[nodiscard]] bool take(char wanted) noexcept {
        if (done() || peek() != wanted) return false;
        ++at_;
        return true;
    }

    void value(const Place& place, int depth) {
        if (depth > deepest) fail(place, "is nested too deeply");
        skip_space();
        switch (peek()) {
            case '{':
                return object(place, depth);
            case '[':
                return array(place, depth);
            case '"':
                static_cast<void>(string(place));
                return;
            case 't':
                return word(place, "true");
            case 'f':
                return word(place, "false");
            case 'n':
                return word(place, "null");
            default:
                return number(place);
        }
    }

    void word(const Place& place, std::string_view wanted) {
        if (text_.substr(at_, wanted.size()) != wanted) fail(place, "is not JSON");
        at_ += wanted.size();
    }

    void object(const Place& place, int depth) {
        ++at_;
        const std::size_t first_key = keys_.size();
        skip_space();
        if (take('}')) return;
        while (true) {
            skip_space();
            if (peek() != '"') fail(place, "is not JSON: a key is missing");
            const std::string_view key = string(place);
            keys_.push_back(key);
            skip_space();
            if (!take(':')) fail(place, "is not JSON: a colon is missing");
            value({&place, key, 0, false}, depth + 1);
            skip_space();
            if (take('}')) break;
            if (!take(',')) fail(place, "is not JSON: an object does not end");
        }
        const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(first_key);
        std::sort(begin, keys_.end());
        const auto twice = std::adjacent_find(begin, keys_.end());
        if (twice != keys_.end()) fail({&place, *twice, 0, false}, "occurs twice in its object");
        keys_.resize(first_key);
    }

    void array(const Place& place, int depth) {
        ++at_;
        skip_space();
        if (take(']')) return;
        for (std::size_t index = 0;; ++index) {
            value({&place, {}, index, true}, depth + 1);
            skip_space();
            if (take(']')) return;
            if (!take(',')) fail(place, "is not JSON: an array does not end");
        }
    }

    /// What stands between the quotes, with escapes resolved.
    std::string_view string(const Place& place) {
        const std::size_t begin = ++at_;
        std::string* plain = nullptr;
        while (true) {
            if (done()) fail(place, "is not JSON: a text does not end");
            const char next = peek();
            if (next == '"') break;
            if (static_cast<unsigned char>(next) < 0x20)
                fail(place, next == '\0' ? "holds a NUL" : "holds a raw control character");
            if (next == '\\') {
                if (plain == nullptr) plain = &plain_.emplace_back(text_.substr(begin, at_ - begin));
                ++at_;
                escape(place, *plain);
                continue;
            }
            // Checked character by character, so that the byte that is named is the wrong one.
            const std::size_t length =
                static_cast<unsigned char>(next) < 0x80 ? 1 : base::utf8_length(text_.substr(at_));
            if (length == 0) fail(place, "is not valid UTF-8");
            if (plain != nullptr) plain->append(text_.substr(at_, length));
            at_ += length;
        }
        const std::string_view raw = text_.substr(begin, at_ - begin);
        ++at_;
        return plain != nullptr ? std::string_view(*plain) : raw;
    }

    void escape(const Place& place, std::string& plain) {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const char letter = peek();
        if (letter == 'u') {
            ++at_;
            return unicode(place, plain);
        }
        const std::size_t which = done() ? std::string_view::npos : letters.find(letter);
        if (which == std::string_view::npos) fail(place, "is not JSON: an unknown escape");
        plain.push_back(meanings[which]);
        ++at_;
    }

    void unicode(const Place& place, std::string& plain) {
        unsigned point = four_digits(place);
        if (point == 0) fail(place, "holds a NUL");
        if (point >= 0xDC00 && point <= 0xDFFF) fail(place, "holds a lone surrogate");
        if (point >= 0xD800 && point <= 0xDBFF) {
            if (!take('\\') || !take('u')) fail(place, "holds a lone surrogate");
            const unsigned low = four_digits(place);
            if (low < 0xDC00 || low > 0xDFFF) fail(place, "holds a lone surrogate");
            point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
        }
        const auto put = [&](unsigned byte) { plain.push_back(static_cast<char>(byte)); };
        if (point < 0x80) {
            put(point);
        } else if (point < 0x800) {
            put(0xC0 | (point >> 6U));
            put(0x80 | (point & 0x3FU));
        } else if (point < 0x10000) {
            put(0xE0 | (point >> 12U));
            put(0x80 | ((point >> 6U) & 0x3FU));
            put(0x80 | (point & 0x3FU));
        } else {
            put(0xF0 | (point >> 18U));
            put(0x80 | ((point >> 12U) & 0x3FU));
            put(0x80 | ((point >> 6U) & 0x3FU));
            put(0x80 | (point & 0x3FU));
        }
    }

    unsigned four_digits(const Place& place) {
        const std::string_view digits = text_.substr(at_, 4);
        unsigned point = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), point, 16);
        if (digits.size() != 4 || error != std::errc{} || end != digits.data() + 4) {
            fail(place, "is not JSON: an unknown escape");
        }
        at_ += 4;
        return point;
    }

    [[nodiscard]] bool digits() noexcept {
        const std::size_t begin = at_;
        while (!done() && peek() >= '0' && peek() <= '9') ++at_;
        return at_ > begin;
    }

    void number(const Place& place) {
        const std::size_t begin = at_;
        bool fractional = false;
        static_cast<void>(take('-'));
        const bool zero = peek() == '0';
        const std::size_t first_digit = at_;
        if (!digits() || (zero && at_ - first_digit > 1)) fail(place, "is not JSON");
        if (take('.')) {
            fractional = true;
            if (!digits()) fail(place, "is not JSON");
        }
        if (take('e') || take('E')) {
            fractional = true;
            if (!take('+')) static_cast<void>(take('-'));
            if (!digits()) fail(place, "is not JSON");
        }
        if (!fractional && at_ - begin < 300) return;
        double parsed = 0;
        const auto [end, error] = std::from_chars(text_.data() + begin, text_.data() + at_, parsed);
        // from_chars says the same of a number that is too small, which is taken as zero.
        if (error == std::errc::result_out_of_range && !tiny(text_.substr(begin, at_ - begin))) {
            fail(place, "is a number that is too large");
        }
    }

    [[nodiscard]] static bool tiny(std::string_view number) {
        const std::size_t exponent = number.find_first_of("eE");
        if (exponent != std::string_view::npos) return number.substr(exponent + 1).starts_with('-');
        return number.find('.') < 300;
    }

    std::string_view text_;
    std::size_t at_{};
    /// Of all objects around the present place, innermost last.
    std::vector<std::string_view> keys_;
    std::deque<std::string> plain_;
};

}  // namespace

std::string path_of(const detail::JsonPlace& place) {
    std::vector<const detail::JsonPlace*> chain;
    for (const detail::JsonPlace* step = &place; step->parent != nullptr; step = step->parent) chain.push_back(step);
    std::string path;
    for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
        if ((*step)->in_array) {
            path += '[' + std::to_string((*step)->index) + ']';
        } else {
            path += '.' + shown((*step)->key);
        }
    }
    return path;
}

std::optional<JsonProblem> check_json(std::string_view text) {
    try {
        Scanner(text).scan();
        return std::nullopt;
    } catch (Refused& refused) {
        return std::move(refused.problem);
    }
}

}  // namespace pawl::model
