#include "failure/scan.hpp"

#include <algorithm>

namespace pawl::failure {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

char lowered(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_letter_or_digit(char c) noexcept { return is_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z'); }

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n'; }

bool begins_with(std::string_view text, std::string_view word) noexcept {
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return a == lowered(b); });
}

std::size_t run_without(std::string_view text, std::string_view ends) noexcept {
    return std::min(text.find_first_of(ends), text.size());
}

namespace {

constexpr std::string_view blanks = " \t\n";
constexpr std::string_view url_ends = " \t\n\"'<>`";

// What follows the colon is a port, and not a password.
bool starts_with_port(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > 5) return false;
    return digits == text.size() ||
           std::string_view("/?#,;.)]}|\\ \t\n\"'<>`").find(text[digits]) != std::string_view::npos;
}

bool bearer_character(char c) {
    return is_letter_or_digit(c) || std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

std::size_t bearer_run(std::string_view text) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), bearer_character) - text.begin());
}

// English after "basic" is in small letters; base64 hardly ever is.
bool looks_encoded(std::string_view word) {
    return word.size() >= 4 && std::any_of(word.begin() + 1, word.end(), [](char c) {
               return is_digit(c) || c == '=' || c == '+' || c == '/' || c != lowered(c);
           });
}

bool local_part_character(char c) {
    return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("._%+-!#$&*/^`{|}~").find(c) != std::string_view::npos;
}

bool passes_luhn(std::string_view digits) {
    int sum = 0;
    bool twice = false;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, twice = !twice) {
        const int value = (*digit - '0') * (twice ? 2 : 1);
        sum += value > 9 ? value - 9 : value;
    }
    return sum % 10 == 0;
}

constexpr std::size_t shortest_card = 13;
constexpr std::size_t longest_card = 19;

}  // namespace

std::optional<Secret> url_credentials(const Spot& spot) {
    constexpr std::string_view mark = "://";
    if (!spot.rest().starts_with(mark) || !is_letter_or_digit(spot.before())) return std::nullopt;
    const std::string_view look = spot.rest().substr(mark.size(), longest_look);
    const std::string_view token = look.substr(0, run_without(look, url_ends));

    const std::size_t user = run_without(token, ":/?#@[");
    if (user == token.size()) return std::nullopt;
    if (token[user] == '@') return Secret{mark.size(), user};
    if (token[user] != ':' || starts_with_port(token.substr(user + 1))) return std::nullopt;

    // A password may hold any of '@', '/', '?' as it stands, so the last '@' ends it; and if there is none before a
    // quote, the quote belongs to it.
    if (const auto end = token.rfind('@'); end != std::string_view::npos) return Secret{mark.size(), end};
    const std::string_view wider = look.substr(0, run_without(look, blanks));
    if (const auto end = wider.find('@', token.size()); end != std::string_view::npos) return Secret{mark.size(), end};
    if (wider.size() == longest_look) return Secret{mark.size(), longest_look};
    return std::nullopt;
}

std::optional<Secret> jdbc_url(const Spot& spot) {
    if (!begins_with(spot.rest(), "jdbc:") || is_letter_or_digit(spot.before())) return std::nullopt;
    return Secret{0, run_without(spot.rest(), url_ends)};
}

std::optional<Secret> bearer_value(const Spot& spot) {
    if (is_letter_or_digit(spot.before())) return std::nullopt;
    const std::string_view rest = spot.rest();
    if (rest.starts_with("eyJ")) {
        const std::size_t run = bearer_run(rest);
        const auto dots = std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(run), '.');
        return run >= 20 && dots >= 1 ? std::optional(Secret{0, run}) : std::nullopt;
    }
    const bool bearer = begins_with(rest, "bearer");
    if (!bearer && !begins_with(rest, "basic")) return std::nullopt;
    const std::size_t word = bearer ? 6 : 5;
    const std::size_t value = std::min(rest.find_first_not_of(" \t", word), rest.size());
    if (value == word || value - word > longest_look) return std::nullopt;
    const std::size_t run = bearer_run(rest.substr(value));
    if (run == 0 || (!bearer && !looks_encoded(rest.substr(value, run)))) return std::nullopt;
    return Secret{value, run};
}

std::optional<Secret> pem_block(const Spot& spot) {
    const std::string_view rest = spot.rest();
    if (!rest.starts_with("-----BEGIN ")) return std::nullopt;
    constexpr std::string_view end_mark = "-----END ";
    const auto end = rest.find(end_mark);
    if (end == std::string_view::npos) return Secret{0, rest.size()};
    constexpr std::string_view dashes = "-----";
    const auto closing = rest.find(dashes, end + end_mark.size());
    return Secret{0, closing == std::string_view::npos ? rest.size() : closing + dashes.size()};
}

std::optional<Secret> email_address(const Spot& spot) {
    if (local_part_character(spot.before())) return std::nullopt;
    const std::string_view look = spot.rest().substr(0, longest_look);
    const auto local =
        static_cast<std::size_t>(std::find_if_not(look.begin(), look.end(), local_part_character) - look.begin());
    if (local == 0 || local == look.size() || look[local] != '@') return std::nullopt;
    const auto in_domain = [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
    };
    const auto start = look.begin() + static_cast<std::ptrdiff_t>(local + 1);
    std::string_view domain =
        look.substr(local + 1, static_cast<std::size_t>(std::find_if_not(start, look.end(), in_domain) - start));
    while (domain.ends_with('.') || domain.ends_with('-')) domain.remove_suffix(1);  // the end of a sentence
    const auto dot = domain.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || domain.size() - dot < 3) return std::nullopt;
    return Secret{0, local + 1 + domain.size()};
}

std::optional<Secret> card_number(const Spot& spot) {
    if (is_digit(spot.before())) return std::nullopt;
    const std::string_view rest = spot.rest();
    std::string digits;
    std::optional<Secret> found;
    for (std::size_t i = 0; i < rest.size() && digits.size() <= longest_card; ++i) {
        if (is_digit(rest[i])) {
            digits.push_back(rest[i]);
            const bool group_ends = i + 1 == rest.size() || !is_digit(rest[i + 1]);
            if (group_ends && digits.size() >= shortest_card && digits.size() <= longest_card && passes_luhn(digits)) {
                found = Secret{0, i + 1};
            }
        } else if ((rest[i] != ' ' && rest[i] != '-') || digits.empty() || i + 1 == rest.size() ||
                   !is_digit(rest[i + 1])) {
            break;
        }
    }
    return found;
}

}  // namespace pawl::failure
