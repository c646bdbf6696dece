#include <algorithm>
#include <iterator>
#include <utility>

#include <pawl/error_sanitizer.hpp>
#include <pawl/errors.hpp>

#include "failure/captured.hpp"
#include "failure/redact.hpp"
#include "failure/scan.hpp"
#include "failure/utf8.hpp"

namespace pawl {
namespace {

// More of a text than this is not looked at: no redaction shrinks it to what is kept.
constexpr std::size_t longest_read = 256 * 1024;

}  // namespace

ErrorSanitizer::~ErrorSanitizer() = default;

DefaultErrorSanitizer::DefaultErrorSanitizer() = default;

DefaultErrorSanitizer::DefaultErrorSanitizer(Settings settings) : settings_(std::move(settings)) {
    for (std::string& key : settings_.keys) key = failure::normalized_key(key);
    const auto empty = [](const auto& text) { return text.empty(); };
    if (std::ranges::any_of(settings_.keys, empty)) throw ConfigError("sanitizer.keys", "has an empty key");
    if (std::ranges::any_of(settings_.prefixes, empty)) throw ConfigError("sanitizer.prefixes", "has an empty prefix");
    if (!std::ranges::all_of(settings_.patterns, [](const Pattern& pattern) { return static_cast<bool>(pattern); })) {
        throw ConfigError("sanitizer.patterns", "has an empty pattern");
    }
    if (settings_.max_bytes < 64 || settings_.max_bytes > 100'000) {
        throw ConfigError("sanitizer.max_bytes", "must be from 64 to 100000");
    }
    if (settings_.max_causes > failure::longest_chain - 1)
        throw ConfigError("sanitizer.max_causes", "must be at most 31");
}

std::string DefaultErrorSanitizer::sanitize_text(std::string_view text) const {
    // First repaired, then searched: a NUL in the middle must not hide the word "password".
    std::string repaired = failure::repair_utf8(text, longest_read);
    // Secrets that the end of what was read cuts in two would not be recognised.
    if (text.size() > longest_read) repaired.resize(repaired.size() - std::min(repaired.size(), failure::longest_look));
    return failure::cut(failure::redact(repaired, settings_, settings_.max_bytes + 1), settings_.max_bytes);
}

ErrorRecord DefaultErrorSanitizer::sanitize(const Failure& failure) const {
    const auto type_of = [&](const failure::Link& link) {
        return failure::cut(failure::repair_utf8(link.type, longest_read), settings_.max_bytes);
    };
    const auto first = failure::first_link(failure);
    const auto last = failure::last_link(failure);

    ErrorRecord record;
    record.type = type_of(*first);
    record.message = sanitize_text(first->message);
    record.error_class = failure.error_class();
    record.truncated = failure.truncated() || failure.causes() > settings_.max_causes;
    for (auto link = std::next(first); link != last && record.causes.size() < settings_.max_causes; ++link) {
        record.causes.push_back({type_of(*link), sanitize_text(link->message)});
    }
    return record;
}

}  // namespace pawl
