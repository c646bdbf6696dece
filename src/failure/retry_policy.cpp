#include <pawl/retry_policy.hpp>

namespace pawl {

RetryPolicy::~RetryPolicy() = default;

bool DefaultRetryPolicy::should_retry(int /*attempt*/, const Failure& /*failure*/) const { return true; }

Duration DefaultRetryPolicy::delay(int /*attempt*/, const Failure& /*failure*/) const { return {}; }

}  // namespace pawl
