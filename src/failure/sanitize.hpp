#pragma once

#include <string>
#include <string_view>

#include <pawl/error_record.hpp>
#include <pawl/error_sanitizer.hpp>
#include <pawl/failure.hpp>

namespace pawl::failure {

/// The only way from an error to a record. A sanitizer that throws is replaced by the default, and should that fail as
/// well, by a fixed text with the type's name. Whatever a sanitizer returned is valid UTF-8 without control characters,
/// and bounded.
///
/// **Threads**: on the worker thread that ran the handler.
[[nodiscard]] ErrorRecord sanitize(const ErrorSanitizer& sanitizer, const Failure& failure) noexcept;

/// The default's treatment of a single text that people or handlers gave, as a reason.
[[nodiscard]] std::string sanitize_text(std::string_view text);

}  // namespace pawl::failure
