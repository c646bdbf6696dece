#include "model/acts.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include <pawl/errors.hpp>

#include "base/utf8.hpp"
#include "model/job_spec.hpp"

namespace pawl::model {
namespace {

constexpr std::size_t longest_by = 200;
constexpr std::size_t longest_why = 2000;

void require_text(std::string_view field, std::string_view text, std::size_t longest) {
    if (text.size() > longest) {
        throw ConfigError(field, fmt::format("is {} bytes long, at most {} are allowed", text.size(), longest));
    }
    if (base::find_invalid_utf8(text) != std::string_view::npos) throw ConfigError(field, "is not valid UTF-8");
    if (base::find_control(text) != std::string_view::npos) throw ConfigError(field, "holds a control character");
}

void require_order(std::string_view field, const std::optional<Time>& after, const std::optional<Time>& before) {
    if (after && before && *after > *before) throw ConfigError(field, "lies after the time it should lie before");
}

bool says_nothing(const Filter& filter) {
    return !filter.kind && !filter.queue && filter.tags.empty() && !filter.error_type && !filter.reason &&
           !filter.error_contains && !filter.created_after && !filter.created_before && !filter.failed_after &&
           !filter.failed_before && !filter.attempts_at_least && !filter.attempts_at_most;
}

void require_said(bool nothing, bool everything) {
    if (nothing == everything) return;
    throw ConfigError("filter", everything ? "says that everything is meant, and something else beside it"
                                           : "says nothing: say what is meant, or all() for everything");
}

}  // namespace

std::string to_text(const Cursor& cursor) {
    return fmt::format("{}-{}", cursor.failed_at.time_since_epoch().count(), cursor.id);
}

Cursor parse_cursor(std::string_view text) {
    const char* const end = text.data() + text.size();
    std::int64_t at = 0;
    JobId id = 0;
    const auto [dash, time_error] = std::from_chars(text.data(), end, at);
    if (time_error == std::errc{} && dash != end && *dash == '-') {
        const auto [rest, id_error] = std::from_chars(dash + 1, end, id);
        if (id_error == std::errc{} && rest == end) return {Time{std::chrono::microseconds{at}}, id};
    }
    throw ConfigError("after", "is no place in the dead letters: take `next` of the page before");
}

void validate_runbook(std::string_view runbook, std::string_view field) { require_text(field, runbook, longest_why); }

void validate_act(std::string_view by, std::string_view why) {
    require_text("by", by, longest_by);
    require_text("why", why, longest_why);
}

void validate_redrive(Duration wait, const std::optional<std::string>& queue, const std::optional<Priority>& priority) {
    validate_delay(wait, "wait");
    if (queue) validate_queue(*queue);
    if (priority) validate_priority(*priority);
}

void validate_filter(const JobFilter& filter) {
    const bool says_nothing =
        !filter.kind && !filter.queue && filter.tags.empty() && !filter.created_after && !filter.created_before;
    require_said(says_nothing, filter.everything);
    if (filter.kind) validate_kind(*filter.kind);
    if (filter.queue) validate_queue(*filter.queue);
    require_order("created_after", filter.created_after, filter.created_before);
}

void validate_filter(const Filter& filter) {
    require_said(says_nothing(filter), filter.everything);
    if (filter.kind) validate_kind(*filter.kind);
    if (filter.queue) validate_queue(*filter.queue);
    if (filter.error_type) require_text("error_type", *filter.error_type, longest_why);
    if (filter.error_contains) {
        if (filter.error_contains->empty()) throw ConfigError("error_contains", "is empty");
        require_text("error_contains", *filter.error_contains, longest_why);
    }
    require_order("created_after", filter.created_after, filter.created_before);
    require_order("failed_after", filter.failed_after, filter.failed_before);
}

}  // namespace pawl::model
