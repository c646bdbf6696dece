#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <pawl/error_sanitizer.hpp>

namespace pawl::failure {

/// The text with each secret replaced by `***REDACTED***`, or as much of its beginning as gives `enough` bytes.
///
/// Where it is not certain whether something is a secret, it is one. Time is linear in the text: what a scanner looks
/// ahead is either taken or bounded.
///
/// **Throws** what a user's pattern throws.
[[nodiscard]] std::string redact(std::string_view text, const DefaultErrorSanitizer::Settings& settings,
                                 std::size_t enough);

}  // namespace pawl::failure
