#pragma once

#include <optional>
#include <string_view>

#include <pawl/error_record.hpp>
#include <pawl/job.hpp>

#include "model/decision.hpp"

namespace pawl::model {

// The way back from the stored words; none for a word that this release does not know.
[[nodiscard]] std::optional<State> parse_state(std::string_view word) noexcept;
[[nodiscard]] std::optional<Priority> parse_priority(std::string_view word) noexcept;
[[nodiscard]] std::optional<Reason> parse_reason(std::string_view word) noexcept;
[[nodiscard]] std::optional<ErrorClass> parse_error_class(std::string_view word) noexcept;
[[nodiscard]] std::optional<Verdict> parse_verdict(std::string_view word) noexcept;

}  // namespace pawl::model
