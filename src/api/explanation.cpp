#include <fmt/format.h>

#include <pawl/explanation.hpp>

namespace pawl {
namespace {

std::string seconds(std::chrono::microseconds span) {
    return fmt::format("{:.3f} s", std::chrono::duration<double>(span).count());
}

std::string_view becomes(const Explanation& explanation) {
    if (explanation.becomes != State::failed) return to_string(explanation.becomes);
    return explanation.discarded ? "failed and discarded" : "failed, a dead letter";
}

}  // namespace

std::string to_string(const Explanation& explanation) {
    std::string text = fmt::format("run {} of {}: {}", explanation.attempt, explanation.kind, becomes(explanation));
    if (explanation.reason != Reason::none) text += fmt::format(" ({})", to_string(explanation.reason));
    if (explanation.delay)
        text += fmt::format(", due in {}, of it jitter {}", seconds(*explanation.delay), seconds(explanation.jitter));
    if (explanation.queue) text += fmt::format(", in queue {}", *explanation.queue);
    if (explanation.priority) text += fmt::format(", at priority {}", to_string(*explanation.priority));
    text += fmt::format("\n  decided by row {}", explanation.row.empty() ? "-" : explanation.row);
    if (!explanation.rule.empty()) text += fmt::format(", rule {}", explanation.rule);
    text += explanation.counted ? ", counted" : ", not counted";
    if (explanation.crashed) text += ", charged to the crash budget";
    if (!explanation.detail.empty()) text += fmt::format("\n  detail: {}", explanation.detail);
    if (explanation.error) {
        text += fmt::format("\n  error: {} ({}): {}", explanation.error->type,
                            to_string(explanation.error->error_class), explanation.error->message);
        for (const ErrorRecord::Cause& cause : explanation.error->causes)
            text += fmt::format("\n    caused by {}: {}", cause.type, cause.message);
        if (explanation.error->truncated) text += "\n    and more, left out";
    }
    if (explanation.stops_pool) text += "\n  this scheduler would take no more jobs";
    for (const std::string& where : explanation.misbehaving) text += fmt::format("\n  misbehaving: {}", where);
    return text;
}

}  // namespace pawl
