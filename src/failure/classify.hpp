#pragma once

#include <pawl/classification.hpp>

#include "failure/captured.hpp"

namespace pawl::failure {

/// Fills in what one error of a chain is by itself: its class, and whether a mark forbids to retry it. A code predicate
/// that throws has no opinion.
void classify(Link& link, const Classification& classification);

}  // namespace pawl::failure
