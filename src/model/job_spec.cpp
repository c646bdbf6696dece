#include "model/job_spec.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <pawl/errors.hpp>

#include "base/utf8.hpp"
#include "model/json_text.hpp"
#include "model/shown.hpp"

namespace pawl::model {

namespace {

constexpr std::size_t longest_name = 200;
constexpr std::size_t longest_tag = 64;
constexpr std::size_t most_tags = 20;
constexpr std::size_t most_params = 20;
constexpr std::size_t most_param_bytes = 4096;
constexpr std::size_t most_waits = 100;
/// Beyond it, sums with the database's clock would leave the range of timestamptz one day.
constexpr Duration longest_span = std::chrono::years(1000);
constexpr Time latest =
    std::chrono::sys_days(std::chrono::year(9999) / 12 / 31) + std::chrono::days(1) - std::chrono::microseconds(1);

void require_utf8(std::string_view text, std::string_view field) {
    if (const std::size_t at = base::find_invalid_utf8(text); at != std::string_view::npos) {
        throw ConfigError(field, fmt::format("is not valid UTF-8 at byte {}", at));
    }
}

/// A name is data, but one that people must be able to see in a log or a shell.
void require_visible(std::string_view text, std::string_view field) {
    require_utf8(text, field);
    if (const std::size_t at = base::find_control(text); at != std::string_view::npos) {
        throw ConfigError(field, fmt::format("holds a control character at byte {}", at));
    }
}

void validate_name(std::string_view name, std::string_view field) {
    if (name.empty()) throw ConfigError(field, "must not be empty");
    if (name.size() > longest_name) {
        throw ConfigError(field, fmt::format("has {} bytes; at most {} are allowed", name.size(), longest_name));
    }
    require_visible(name, field);
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n\f\v";
    const std::size_t first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(space) - first + 1));
}

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

}  // namespace

void validate_kind(std::string_view kind, std::string_view field) { validate_name(kind, field); }

void validate_queue(std::string_view queue, std::string_view field) { validate_name(queue, field); }

void validate_priority(Priority priority, std::string_view field) {
    if (priority > Priority::lowest) throw ConfigError(field, "is none of the levels of pawl::Priority");
}

void validate_retries(int retries, std::string_view field) {
    if (retries < 0)
        throw ConfigError(field, fmt::format("is {}; it must be 0 or more, and 0 runs a job once", retries));
}

void validate_timeout(Duration timeout, std::string_view field) {
    if (!timeout.valid()) throw ConfigError(field, "is not a number");
    if (timeout == no_timeout) return;
    if (timeout <= Duration{}) throw ConfigError(field, "must be above zero; pawl::no_timeout is for no limit at all");
    if (timeout > longest_span)
        throw ConfigError(field, "is above 1,000 years; pawl::no_timeout is for no limit at all");
}

void validate_delay(Duration delay, std::string_view field) {
    if (!delay.valid()) throw ConfigError(field, "is not a number");
    if (delay < Duration{}) throw ConfigError(field, "must not be negative");
    if (delay > longest_span) throw ConfigError(field, "is above 1,000 years");
}

void validate_stored_backoff(const Backoff& backoff, std::string_view field) {
    if (backoff.law() == Backoff::Law::custom) {
        throw ConfigError(field,
                          "is a function, which cannot be stored with a job; set it for the kind or the scheduler");
    }
    if (backoff.waits().size() > most_waits) {
        throw ConfigError(field,
                          fmt::format("lists {} waits; at most {} are allowed", backoff.waits().size(), most_waits));
    }
}

Time due_time(Duration since_epoch, std::string_view field) {
    if (!since_epoch.valid()) throw ConfigError(field, "is not a number");
    const Time time{since_epoch.microseconds()};
    if (time > latest) throw ConfigError(field, "is after the year 9999");
    // One that has passed means now, however long ago it is: PostgreSQL's range begins in 4713 BC.
    return std::max(time, Time{});
}

std::vector<std::string> normal_tags(std::vector<std::string> tags) {
    for (std::size_t i = 0; i < tags.size(); ++i) {
        const std::string field = fmt::format("tags[{}]", i);
        std::string tag = trimmed(tags[i]);
        std::ranges::transform(tag, tag.begin(), lower);
        if (tag.empty()) throw ConfigError(field, "must not be empty");
        if (tag.size() > longest_tag) {
            throw ConfigError(field, fmt::format("has {} bytes; at most {} are allowed", tag.size(), longest_tag));
        }
        require_visible(tag, field);
        tags[i] = std::move(tag);
    }
    std::ranges::sort(tags);
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    if (tags.size() > most_tags) {
        throw ConfigError("tags", fmt::format("are {}; at most {} are allowed", tags.size(), most_tags));
    }
    return tags;
}

void validate_params(const std::map<std::string, std::string>& params) {
    if (params.size() > most_params) {
        throw ConfigError("params", fmt::format("are {}; at most {} are allowed", params.size(), most_params));
    }
    std::size_t bytes = 0;
    for (const auto& [key, text] : params) {
        const std::string field = "params." + shown(key);
        if (key.empty()) throw ConfigError("params", "have an empty key");
        require_visible(key, field);
        require_utf8(text, field);
        if (const std::size_t at = text.find('\0'); at != std::string::npos) {
            throw ConfigError(field, fmt::format("holds a NUL at byte {}, which PostgreSQL cannot store", at));
        }
        bytes += key.size() + text.size();
    }
    if (bytes > most_param_bytes) {
        throw ConfigError("params",
                          fmt::format("have {} bytes together; at most {} are allowed", bytes, most_param_bytes));
    }
}

void validate(JobSpec& spec) {
    validate_kind(spec.kind);
    validate_queue(spec.queue);
    validate_priority(spec.priority);
    if (spec.payload_version < 0) throw ConfigError("payload_version", "must not be negative");
    if (spec.max_retries) validate_retries(*spec.max_retries);
    if (spec.backoff) validate_stored_backoff(*spec.backoff);
    if (spec.timeout) validate_timeout(*spec.timeout);
    spec.tags = normal_tags(std::move(spec.tags));
    validate_params(spec.params);
    if (spec.on_failure) validate_kind(*spec.on_failure, "on_failure");
    if (spec.on_success) validate_kind(*spec.on_success, "on_success");
    if (const auto* delay = std::get_if<Duration>(&spec.due)) validate_delay(*delay);
    if (auto* time = std::get_if<Time>(&spec.due)) *time = due_time(Duration(time->time_since_epoch()));
}

void validate_payload(std::string_view kind, std::string_view payload, const SpecLimits& limits) {
    if (payload.size() > limits.max_payload) {
        throw ConfigError("payload", fmt::format("of kind \"{}\" has {} bytes; max_payload allows {}", shown(kind),
                                                 payload.size(), limits.max_payload));
    }
    if (const auto problem = check_json(payload)) {
        throw ConfigError("payload" + problem->path, fmt::format("of kind \"{}\" {}", shown(kind), problem->what));
    }
}

}  // namespace pawl::model
