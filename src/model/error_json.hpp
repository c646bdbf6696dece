#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pawl/error_record.hpp>

namespace pawl::model {

/// How a sanitized error stands in a jsonb column.
[[nodiscard]] std::string error_json(const ErrorRecord& error);
[[nodiscard]] std::string causes_json(const std::vector<ErrorRecord::Cause>& causes);
/// What is missing or of another shape is left at its default: a row is never unreadable because of its error.
[[nodiscard]] ErrorRecord error_from_json(std::string_view text);

}  // namespace pawl::model
