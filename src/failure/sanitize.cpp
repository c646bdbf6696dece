#include "failure/sanitize.hpp"

#include <utility>

#include "failure/utf8.hpp"

namespace pawl::failure {
namespace {

// What the store takes of one text, whatever a sanitizer makes of it.
constexpr std::size_t longest_text = 100'000;
constexpr std::size_t most_causes = 31;

std::string storable(const std::string& text) { return cut(repair_utf8(text, longest_text + 1), longest_text); }

ErrorRecord storable(ErrorRecord record) {
    record.type = storable(record.type);
    record.message = storable(record.message);
    if (record.causes.size() > most_causes) {
        record.causes.resize(most_causes);
        record.truncated = true;
    }
    for (auto& cause : record.causes) cause = {storable(cause.type), storable(cause.message)};
    return record;
}

ErrorRecord named_only(const Failure& failure) noexcept {
    ErrorRecord record;
    record.error_class = failure.error_class();
    record.truncated = true;
    try {
        record.type = cut(repair_utf8(failure.type(), longest_text), 500);
        record.message = "the error could not be sanitized";
    } catch (...) {  // Out of memory: an empty record is still one.
        record.type.clear();
        record.message.clear();
    }
    return record;
}

}  // namespace

ErrorRecord sanitize(const ErrorSanitizer& sanitizer, const Failure& failure) noexcept {
    try {
        return storable(sanitizer.sanitize(failure));
    } catch (...) {  // User code: whatever it throws, the default takes its place.
    }
    try {
        return storable(DefaultErrorSanitizer().sanitize(failure));
    } catch (...) {
        return named_only(failure);
    }
}

std::string sanitize_text(std::string_view text) { return DefaultErrorSanitizer().sanitize_text(text); }

}  // namespace pawl::failure
