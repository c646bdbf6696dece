#include <exception>
#include <string>

#include <pawl/control.hpp>
#include <pawl/detail/json_checks.hpp>
#include <pawl/errors.hpp>

#include "base/utf8.hpp"
#include "model/json_text.hpp"

namespace pawl::detail {

namespace {

[[noreturn]] void refuse_stored(const model::JsonProblem& problem) {
    throw PayloadError("payload" + problem.path + ' ' + problem.what);
}

}  // namespace

void refuse_value(const JsonPlace& place, std::string_view problem) {
    throw ConfigError("payload" + model::path_of(place), problem);
}

void require_text(const JsonPlace& place, std::string_view text) {
    if (const std::size_t at = base::find_invalid_utf8(text); at != std::string_view::npos) {
        refuse_value(place, "is not valid UTF-8 at byte " + std::to_string(at));
    }
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
        refuse_value(place, "holds a NUL at byte " + std::to_string(at) + ", which PostgreSQL cannot store");
    }
}

void require_json(std::string_view text) {
    if (const auto problem = model::check_json(text)) refuse_stored(*problem);
}

void require_exact(std::string_view stored, std::string_view decoded) {
    if (const auto problem = model::find_narrowed(stored, decoded)) refuse_stored(*problem);
}

void refuse_arguments(std::size_t wanted, std::size_t stored) {
    throw PayloadError("the task takes " + std::to_string(wanted) + " arguments, and " + std::to_string(stored) +
                       " are stored");
}

void refuse_argument(std::size_t index) {
    std::throw_with_nested(PayloadError("argument " + std::to_string(index + 1) + " cannot be decoded"));
}

}  // namespace pawl::detail
