#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pawl/dead_letters.hpp>

namespace pawl::model {

/// Where a page of dead letters begins: after this one, by the time of its failing.
struct Cursor {
    Time failed_at{};
    JobId id{};
};

[[nodiscard]] std::string to_text(const Cursor& cursor);

/// **Throws** `ConfigError` naming `after` for a text that `to_text` never made.
[[nodiscard]] Cursor parse_cursor(std::string_view text);

/// **Throws** `ConfigError` naming the field.
void validate_runbook(std::string_view runbook, std::string_view field = "runbook");
void validate_act(std::string_view by, std::string_view why);
void validate_redrive(Duration wait, const std::optional<std::string>& queue, const std::optional<Priority>& priority);
void validate_filter(const Filter& filter);
void validate_filter(const JobFilter& filter);

}  // namespace pawl::model
