#include <algorithm>
#include <array>
#include <utility>

#include "failure/scan.hpp"

// Values whose key says that they are secret. Everything here follows one order: the key, what separates, the value.

namespace pawl::failure {
namespace {

constexpr std::array<std::string_view, 12> secret_names{
    "password", "passwd", "passphrase", "passcode",   "pwd",        "token",
    "secret",   "apikey", "accesskey",  "privatekey", "credential", "sharedaccesssignature",
};
// Their values run to the end of the line, scheme and all.
constexpr std::array<std::string_view, 4> header_names{"authorization", "proxyauthorization", "cookie", "setcookie"};

bool key_character(char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

/// Reads on in a text.
class Cursor {
public:
    explicit Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

    [[nodiscard]] std::size_t position() const { return at_; }
    [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
    [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }

    bool take(std::string_view word) {
        if (!begins_with(rest(), word)) return false;
        at_ += word.size();
        return true;
    }
    bool take_blanks(std::size_t most) {
        const std::size_t before = at_;
        while (!at_end() && at_ - before < most && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
        return at_ != before;
    }
    void skip(std::size_t bytes) { at_ = std::min(at_ + bytes, text_.size()); }

private:
    std::string_view text_;
    std::size_t at_;
};

constexpr std::size_t most_blanks = 16;

bool take_separator(Cursor& cursor, const Spot& spot, bool flag) {
    // A quoted key's closing quote, also where the text is a string within JSON.
    if (!cursor.take("\\\"") && !cursor.take("\"")) static_cast<void>(cursor.take("'"));
    if (spot.before() == '<' && cursor.take(">")) return true;
    const bool blank = cursor.take_blanks(most_blanks);
    for (const std::string_view separator : {"=>", ":=", "==", "=", ":", "%3d", "%3a"}) {
        if (!cursor.take(separator)) continue;
        static_cast<void>(cursor.take_blanks(most_blanks));
        return true;
    }
    return blank && flag;
}

/// The length of a quoted text at the front, its closing quote not included.
std::size_t quoted_length(std::string_view text, std::string_view quote) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i).starts_with(quote)) return i;
        if (text[i] == '\\') ++i;
    }
    return text.size();
}

/// What is hidden of a value whose opening quote has been passed. Where something is glued to the quote that closes it, that quote
/// may as well have opened another value: then it goes on to the end of the line.
std::size_t hidden_of_quoted(std::string_view text, std::string_view quote) {
    const std::size_t length = quoted_length(text, quote);
    const std::string_view after = text.substr(std::min(length + quote.size(), text.size()));
    constexpr std::string_view delimiters = " \t\n,;)}]>&\"'\\.";
    if (after.empty() || delimiters.find(after.front()) != std::string_view::npos) return length;
    return text.size() - after.size() + run_without(after, "\n");
}

/// A list or object at the front, to its closing bracket, or else to the end of the text. Brackets in quoted texts are none.
std::size_t bracketed_length(std::string_view text) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"' || text[i] == '\'') i += 1 + quoted_length(text.substr(i + 1), text.substr(i, 1));
        if (i >= text.size()) break;
        if (text[i] == '[' || text[i] == '{') ++depth;
        if ((text[i] == ']' || text[i] == '}') && --depth == 0) return i + 1;
    }
    return text.size();
}

std::size_t bare_length(std::string_view text) {
    constexpr std::string_view ends = " \t\n&;\"'<>";
    std::size_t i = 0;
    for (; i < text.size() && ends.find(text[i]) == std::string_view::npos; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;  // conninfo: an escaped blank belongs to the value
    }
    return std::min(i, text.size());
}

std::size_t bare_value_length(std::string_view text) {
    const std::size_t word = bare_length(text);
    for (const std::string_view scheme : {"bearer", "basic", "digest", "negotiate", "token"}) {
        if (word != scheme.size() || !begins_with(text, scheme)) continue;
        const std::size_t value = std::min(text.find_first_not_of(" \t", word), text.size());
        return value + bare_length(text.substr(value));
    }
    return word;
}

/// What is hidden of the value at the cursor, which is moved past an opening quote.
std::size_t value_length(Cursor& cursor, bool whole_line) {
    for (const std::string_view quote : {"\\\"", "\"", "'"}) {
        if (cursor.take(quote)) return hidden_of_quoted(cursor.rest(), quote);
    }
    const std::string_view rest = cursor.rest();
    if (whole_line) return run_without(rest, "\n\"'");
    if (rest.starts_with('[') || rest.starts_with('{')) return bracketed_length(rest);
    return bare_value_length(rest);
}

enum class Naming { harmless, secret, header };

Naming naming(std::string_view key, const std::vector<std::string>& more) {
    const std::string name = normalized_key(key);
    const auto equals = [&](std::string_view word) { return name == word; };
    const auto within = [&](std::string_view word) { return contains(name, word); };
    if (std::any_of(header_names.begin(), header_names.end(), equals)) return Naming::header;
    const bool secret =
        std::any_of(secret_names.begin(), secret_names.end(), within) || std::any_of(more.begin(), more.end(), within);
    return secret ? Naming::secret : Naming::harmless;
}

}  // namespace

std::string normalized_key(std::string_view name) {
    std::string normalized;
    for (const char c : name) {
        if (c != '_' && c != '-') normalized.push_back(lowered(c));
    }
    return normalized;
}

std::optional<Secret> keyed_value(const Spot& spot, const std::vector<std::string>& more) {
    if (key_character(spot.before())) return std::nullopt;
    const std::string_view rest = spot.rest();
    const auto length_of_key = std::find_if_not(rest.begin(), rest.end(), key_character) - rest.begin();
    const std::string_view key = rest.substr(0, static_cast<std::size_t>(length_of_key));
    const Naming named = naming(key, more);
    if (named == Naming::harmless) return std::nullopt;

    Cursor cursor(spot.text, spot.at + key.size());
    if (!take_separator(cursor, spot, key.starts_with("--"))) return std::nullopt;
    const std::size_t length = value_length(cursor, named == Naming::header);
    if (length == 0) return std::nullopt;
    return Secret{cursor.position() - spot.at, length};
}

}  // namespace pawl::failure
