#pragma once

#include <cstddef>
#include <optional>

#include "model/settlement.hpp"

namespace pawl::runtime {

/// What follows on the end that is decided for a job; none when it does not end, or asked for nothing.
///
/// Made anew from the decision for each settle, so that it says what is written and nothing else. A payload above
/// `max_payload` is left out, and the record says so.
[[nodiscard]] std::optional<model::FollowUp> follow_up(const model::ClaimedJob& job, const model::Decision& decision,
                                                       std::size_t max_payload);

}  // namespace pawl::runtime
