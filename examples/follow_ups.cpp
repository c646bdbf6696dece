// Follow-ups: what is to be done about a job that has ended is a job itself, enqueued in the commit that writes the end, so
// that no crash loses it. And asking what would become of a failure.

#include <atomic>
#include <stdexcept>
#include <string>

#include "example.hpp"

using namespace std::chrono_literals;

namespace {

struct ChargeCard {
    static constexpr std::string_view kind = "follow_ups.charge_card";
    int order{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(ChargeCard, order)
};

struct GatewayBusy : std::runtime_error {
    using runtime_error::runtime_error;
};

std::string charge(const ChargeCard& job) {
    if (job.order == 13) throw std::invalid_argument("order 13 has no card");
    return "receipt " + std::to_string(job.order);
}

}  // namespace

int main() {
    return example::run([] {
        pawl::Scheduler scheduler{
            {.connection = example::dsn(), .migrate_on_start = true, .logger = example::no_log()}};
        scheduler.on<ChargeCard>(charge).retry_on<GatewayBusy>({.attempts = 3, .wait = 5s, .jitter = 0});

        // [register]
        scheduler
            .on_failure("follow_ups.charge_failed",
                        [](const pawl::FinishedJob& job, pawl::JobContext& context) {
                            if (context.attempt() == 1) throw GatewayBusy("the mail server takes a nap");
                            fmt::print("order {} could not be charged ({}): {}\n", job.payload_as<ChargeCard>().order,
                                       pawl::to_string(job.reason), job.error->message);
                        })
            .retry_on<GatewayBusy>({.wait = 10ms});
        scheduler.on_success("follow_ups.charged", [](const pawl::FinishedJob& job) {
            fmt::print("order {} is paid: {}\n", job.payload_as<ChargeCard>().order, *job.result);
        });
        // [/register]

        // [explain]
        const pawl::Explanation what = scheduler.explain<ChargeCard>(GatewayBusy("busy"), {.attempt = 2});
        fmt::print("{}\n", pawl::to_string(what));
        // [/explain]
        example::expect(what.becomes == pawl::State::pending && what.delay == 5s, "a busy gateway is tried again");
        example::expect(scheduler.explain<ChargeCard>(std::invalid_argument("x")).reason == pawl::Reason::permanent,
                        "a wrong argument is not");

        std::atomic<int> told{0};
        const pawl::Subscription follow_ups = scheduler.on_event<pawl::JobSucceeded>([&](const auto& event) {
            if (event.kind == ChargeCard::kind) return;
            ++told;
            told.notify_all();
        });
        scheduler.start();
        // [enqueue]
        for (const int order : {12, 13}) {
            scheduler.enqueue(ChargeCard{order})
                .on_failure("follow_ups.charge_failed")
                .on_success("follow_ups.charged")
                .submit();
        }
        // [/enqueue]
        for (int seen = told; seen < 2; seen = told) told.wait(seen);
        scheduler.stop();
        example::expect(told == 2, "each of the two had its follow-up");
    });
}
