#include <memory>
#include <string>
#include <utility>

#include <pawl/circuit_breaker.hpp>
#include <pawl/errors.hpp>

#include "api/scheduler_impl.hpp"
#include "failure/breaker.hpp"
#include "model/job_spec.hpp"

namespace pawl {

std::string_view to_string(BreakerState state) noexcept {
    switch (state) {
        case BreakerState::closed:
            return "closed";
        case BreakerState::open:
            return "open";
        case BreakerState::half_open:
            return "half_open";
    }
    return "closed";
}

namespace {

std::string validated(std::string service) {
    model::validate_queue(service, "circuit_breaker");
    return service;
}

}  // namespace

CircuitBreaker::CircuitBreaker(std::string service, BreakerOptions options)
    : breaker_(std::make_shared<failure::Breaker>(validated(std::move(service)), std::move(options))) {}

const std::string& CircuitBreaker::service() const noexcept { return breaker_->service(); }
BreakerState CircuitBreaker::state() const { return breaker_->state(); }
std::chrono::microseconds CircuitBreaker::remaining() const { return breaker_->remaining(); }
CircuitBreaker::Calls CircuitBreaker::calls() const { return breaker_->calls(); }
void CircuitBreaker::open() { breaker_->open(); }
void CircuitBreaker::close() { breaker_->close(); }

CircuitBreaker Scheduler::circuit_breaker(CircuitBreaker breaker) {
    if (impl_->registry.sealed().load(std::memory_order_acquire)) {
        throw ConfigError("circuit_breaker", "is set up before start()");
    }
    if (impl_->breakers.contains(breaker.service())) {
        throw ConfigError("circuit_breaker", "\"" + breaker.service() + "\" was set up before: keep what it gave");
    }
    if (!breaker.breaker_->adopt()) {
        throw ConfigError("circuit_breaker",
                          "\"" + breaker.service() + "\" belongs to another scheduler: make one for each");
    }
    impl_->breakers.emplace(breaker.service(), breaker.breaker_);
    return breaker;
}

}  // namespace pawl
