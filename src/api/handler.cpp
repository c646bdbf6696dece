#include <utility>

#include <pawl/errors.hpp>
#include <pawl/handler.hpp>

#include "model/acts.hpp"
#include "model/job_spec.hpp"

namespace pawl {

Handler& Handler::with_max_retries(int retries) {
    model::validate_retries(retries);
    open().max_retries = retries;
    return *this;
}

Handler& Handler::with_backoff(Backoff backoff) {
    open().backoff = std::move(backoff);
    return *this;
}

Handler& Handler::with_timeout(Duration timeout) {
    model::validate_timeout(timeout);
    open().timeout = timeout;
    return *this;
}

Handler& Handler::with_runbook(std::string_view runbook) {
    model::validate_runbook(runbook);
    open().runbook = runbook;
    return *this;
}

Handler& Handler::with_permanent_errors(PermanentErrors permanent_errors) {
    if (permanent_errors > PermanentErrors::failed_only) {
        throw ConfigError("permanent_errors", "is none of the values of pawl::PermanentErrors");
    }
    open().permanent_errors = permanent_errors;
    return *this;
}

Handler& Handler::with_circuit_breaker(std::string_view service) {
    model::validate_queue(service, "circuit_breaker");
    open().circuit_breaker = service;
    return *this;
}

Handler& Handler::non_idempotent() {
    open().non_idempotent = true;
    return *this;
}

HandlerSettings& Handler::open() {
    if (sealed_.load(std::memory_order_acquire)) {
        throw ConfigError("handler", "is fixed once the scheduler was started: say everything before start()");
    }
    return settings_;
}

}  // namespace pawl
