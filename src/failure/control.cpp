#include <pawl/control.hpp>

namespace pawl {

// Their destructors stand here so that each type has one home for its type information.
PermanentError::~PermanentError() = default;
TransientError::~TransientError() = default;
TimedOut::~TimedOut() = default;
PayloadError::~PayloadError() = default;
ThreadExited::~ThreadExited() = default;

}  // namespace pawl
