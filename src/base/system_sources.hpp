#pragma once

#include <memory>

#include <pawl/clock.hpp>

namespace pawl::base {

/// The host's wall clock.
[[nodiscard]] std::shared_ptr<const Clock> system_clock();

/// Random numbers of our own, seeded by the system. Fit for jitter, not for secrets.
[[nodiscard]] std::shared_ptr<RandomSource> system_random();

}  // namespace pawl::base
