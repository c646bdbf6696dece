// A service that goes down: its circuit breaker keeps jobs from it, a policy waits for it, and a card is charged once.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "example.hpp"

using namespace std::chrono_literals;

namespace {

struct ChargeCard {
    static constexpr std::string_view kind = "breaker.charge_card";
    int order_id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(ChargeCard, order_id)
};

class GatewayBusy : public pawl::TransientError {
    using TransientError::TransientError;
};

/// Stands for the payment provider: it refuses its first calls.
struct Gateway {
    std::atomic<int> calls{0};
    std::atomic<int> charges{0};

    std::string charge(int order_id) {
        if (++calls <= 3) throw GatewayBusy("503");
        ++charges;
        return "receipt of order " + std::to_string(order_id);
    }
    std::optional<std::string> find_charge(int) { return std::nullopt; }
};

}  // namespace

int main() {
    return example::run([] {
        Gateway gateway;

        // [policy]
        pawl::CircuitBreaker breaker("payment-gateway", {.minimum_calls = 3, .open_for = 200ms, .trials = 1});

        auto usual = std::make_shared<pawl::ExponentialRetryPolicy>(
            pawl::ExponentialRetryPolicy::Settings{.max_retries = 8, .first = 10ms});
        auto limited = std::make_shared<pawl::RateLimitedRetryPolicy>(
            pawl::RateLimitedRetryPolicy::Settings{.retries = 50, .window = 1s}, usual);
        auto policy = std::make_shared<pawl::RoutingRetryPolicy>(usual);
        policy->route<GatewayBusy>(std::make_shared<pawl::BreakerAwareRetryPolicy>(breaker, limited));

        pawl::Scheduler scheduler{{.connection = example::dsn(),
                                   .migrate_on_start = true,
                                   .max_retries = 8,
                                   .logger = example::no_log(),
                                   .retry_policy = policy}};
        scheduler.circuit_breaker(breaker);
        // [/policy]
        std::atomic<int> opened{0};
        const pawl::Subscription told = scheduler.on_event<pawl::BreakerOpened>([&](const auto& event) {
            fmt::print("breaker of {} opened\n", event.service);
            ++opened;
        });
        example::Endings endings{scheduler};

        // [once]
        scheduler
            .on<ChargeCard>([&](const ChargeCard& job, pawl::JobContext& context) {
                auto receipt = context.once(
                    "charge", [&] { return gateway.charge(job.order_id); },
                    [&](const pawl::StepInDoubt&) { return gateway.find_charge(job.order_id); });
                if (context.attempt() < 5) throw GatewayBusy("the mail server is slow as well");
                return receipt;
            })
            .with_circuit_breaker("payment-gateway");
        // [/once]
        scheduler.start();
        const auto order = scheduler.enqueue(ChargeCard{42}).submit().id();
        endings.wait_for({order});
        scheduler.stop();

        example::expect(gateway.charges == 1, "the card was charged once");
        example::expect(opened >= 1, "the breaker opened");
        example::expect(scheduler.find(order)->state == pawl::State::succeeded, "the job succeeded");
    });
}
