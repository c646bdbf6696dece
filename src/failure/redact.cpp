#include "failure/redact.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "failure/scan.hpp"

namespace pawl::failure {
namespace {

constexpr std::string_view hidden = "***REDACTED***";

std::optional<Secret> by_pattern(const Spot& spot, const DefaultErrorSanitizer::Settings& settings) {
    for (const auto& pattern : settings.patterns) {
        const std::size_t length = std::min(pattern(spot.rest(), spot.before()), spot.rest().size());
        if (length > 0) return Secret{0, length};
    }
    return std::nullopt;
}

std::optional<Secret> by_prefix(const Spot& spot, const DefaultErrorSanitizer::Settings& settings) {
    if (is_letter_or_digit(spot.before())) return std::nullopt;
    for (const std::string& prefix : settings.prefixes) {
        if (spot.rest().starts_with(prefix))
            return Secret{0, std::max(prefix.size(), run_without(spot.rest(), " \t\n\"'<>,;()"))};
    }
    return std::nullopt;
}

std::optional<Secret> secret_at(const Spot& spot, const DefaultErrorSanitizer::Settings& settings) {
    if (auto found = by_pattern(spot, settings)) return found;
    const char c = spot.text[spot.at];
    if (c == ':') return url_credentials(spot);
    if (c == '-') {
        if (auto found = pem_block(spot)) return found;
    }
    if (auto found = by_prefix(spot, settings)) return found;
    if (auto found = jdbc_url(spot)) return found;
    if (auto found = keyed_value(spot, settings.keys)) return found;
    if (auto found = bearer_value(spot)) return found;
    if (auto found = email_address(spot)) return found;
    return card_number(spot);
}

/// Where what is hidden from `from` to `end` really ends: a secret that begins within another is hidden to its own end, for
/// its beginning, by which it would be known, is gone. Those are looked for near the end only, which bounds the time.
std::size_t end_of_hidden(std::string_view text, std::size_t from, std::size_t end,
                          const DefaultErrorSanitizer::Settings& settings) {
    if (end - from > longest_look) from = end - longest_look;
    for (std::size_t at = from; at < end && end < text.size(); ++at) {
        if (const auto within = secret_at({text, at}, settings))
            end = std::max(end, at + within->shown + within->hidden);
    }
    return end;
}

}  // namespace

std::string redact(std::string_view text, const DefaultErrorSanitizer::Settings& settings, std::size_t enough) {
    std::string shown;
    std::size_t at = 0;
    while (at < text.size() && shown.size() < enough) {
        const auto secret = secret_at({text, at}, settings);
        if (!secret) {
            shown.push_back(text[at++]);
            continue;
        }
        shown.append(text.substr(at, secret->shown)).append(hidden);
        at = end_of_hidden(text, at + secret->shown, at + secret->shown + secret->hidden, settings);
    }
    return shown;
}

}  // namespace pawl::failure
