#pragma once

// All of pawl that a service needs. Single headers serve as well; leaving out <pawl/json.hpp> saves the most.

#include <pawl/circuit_breaker.hpp>
#include <pawl/clock.hpp>
#include <pawl/codec.hpp>
#include <pawl/control.hpp>
#include <pawl/do_not_retry.hpp>
#include <pawl/error_sanitizer.hpp>
#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/explanation.hpp>
#include <pawl/finished_job.hpp>
#include <pawl/handler.hpp>
#include <pawl/health.hpp>
#include <pawl/job.hpp>
#include <pawl/job_builder.hpp>
#include <pawl/job_context.hpp>
#include <pawl/json.hpp>
#include <pawl/migrate.hpp>
#include <pawl/options.hpp>
#include <pawl/retry_budget.hpp>
#include <pawl/retry_policies.hpp>
#include <pawl/retry_policy.hpp>
#include <pawl/scheduler.hpp>
#include <pawl/task.hpp>
#include <pawl/version.hpp>
