#pragma once

#include <memory>

#include <pawl/classification.hpp>

#include "worker/executor.hpp"

namespace pawl::runtime {

/// How an executor makes failures of what handlers throw: failure/capture, with what a scheduler knows about types and codes.
/// They share it, because the executor may outlive its engine.
[[nodiscard]] worker::CaptureCalls capture_calls(std::shared_ptr<const Classification> classification);

}  // namespace pawl::runtime
