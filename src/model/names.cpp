#include "model/names.hpp"

#include <array>
#include <cstddef>

namespace pawl {
namespace {

// One table per enumeration, in the order of its enumerators.
constexpr std::array<std::string_view, 7> states{"pending",   "running", "waiting", "paused",
                                                 "succeeded", "failed",  "canceled"};
constexpr std::array<std::string_view, 5> priorities{"critical", "high", "normal", "low", "lowest"};
constexpr std::array<std::string_view, 12> reasons{"none",      "do_not_retry", "permanent",      "discarded",
                                                   "policy",    "plan",         "rule_exhausted", "exhausted",
                                                   "timed_out", "worker_lost",  "needs_person",   "payload"};
constexpr std::array<std::string_view, 3> error_classes{"unknown", "transient", "permanent"};
constexpr std::array<std::string_view, 7> verdicts{"complete", "retry_at", "dead_letter", "discard",
                                                   "snooze",   "release",  "cancel"};

static_assert(states.size() == static_cast<std::size_t>(State::canceled) + 1);
static_assert(priorities.size() == static_cast<std::size_t>(Priority::lowest) + 1);
static_assert(reasons.size() == static_cast<std::size_t>(Reason::payload) + 1);
static_assert(error_classes.size() == static_cast<std::size_t>(ErrorClass::permanent) + 1);
static_assert(verdicts.size() == static_cast<std::size_t>(model::Verdict::cancel) + 1);

template <class Enum, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < N ? words[index] : std::string_view{"?"};
}

template <class Enum, std::size_t N>
std::optional<Enum> parse(const std::array<std::string_view, N>& words, std::string_view text) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i] == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

}  // namespace

std::string_view to_string(State state) noexcept { return word(states, state); }
std::string_view to_string(Priority priority) noexcept { return word(priorities, priority); }
std::string_view to_string(Reason reason) noexcept { return word(reasons, reason); }
std::string_view to_string(ErrorClass error_class) noexcept { return word(error_classes, error_class); }

namespace model {

std::string_view to_string(Verdict verdict) noexcept { return word(verdicts, verdict); }

std::optional<State> parse_state(std::string_view text) noexcept { return parse<State>(states, text); }
std::optional<Priority> parse_priority(std::string_view text) noexcept { return parse<Priority>(priorities, text); }
std::optional<Reason> parse_reason(std::string_view text) noexcept { return parse<Reason>(reasons, text); }
std::optional<ErrorClass> parse_error_class(std::string_view text) noexcept {
    return parse<ErrorClass>(error_classes, text);
}
std::optional<Verdict> parse_verdict(std::string_view text) noexcept { return parse<Verdict>(verdicts, text); }

}  // namespace model
}  // namespace pawl
