#include <pawl/control.hpp>

namespace pawl {

// Their destructors stand here so that each type has one home for its type information.
PermanentError::~PermanentError() = default;
TransientError::~TransientError() = default;
TimedOut::~TimedOut() = default;
PayloadError::~PayloadError() = default;
StepInDoubt::~StepInDoubt() = default;
ThreadExited::~ThreadExited() = default;

StepInDoubt::StepInDoubt(std::string_view step, ClaimToken begun_by)
    : std::runtime_error("step \"" + std::string(step) + "\" was begun by an earlier run (claim " +
                         std::to_string(begun_by) + "), and nothing tells whether it was done"),
      step_(step),
      begun_by_(begun_by) {}

}  // namespace pawl
