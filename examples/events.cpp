// Listening to what happens: typed events, after the commit that made them true, on a thread of their own.

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "example.hpp"

using namespace std::chrono_literals;

namespace {

struct FetchPage {
    static constexpr std::string_view kind = "events.fetch_page";
    std::string url;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(FetchPage, url)
};

void fetch(const FetchPage& job, pawl::JobContext& context) {
    if (job.url == "slow" && context.attempt() == 1) throw pawl::RetryAfter{.delay = 100ms};
    if (job.url == "bad") throw std::invalid_argument("no such protocol");
}

}  // namespace

int main() {
    return example::run([] {
        pawl::Scheduler scheduler{
            {.connection = example::dsn(), .migrate_on_start = true, .logger = example::no_log()}};
        std::atomic<int> retries{0};
        std::atomic<int> letters{0};

        // [listen]
        const pawl::Subscription retrying = scheduler.on_event<pawl::JobRetrying>([&](const pawl::JobRetrying& event) {
            fmt::print("job {}: run {} failed ({}), again in {} ms\n", event.id, event.attempt, event.record.type,
                       event.delay.count() / 1000);
            ++retries;
        });
        const pawl::Subscription dead = scheduler.on_event<pawl::JobDlq>([&](const pawl::JobDlq& event) {
            fmt::print("job {}: a dead letter ({}): {}\n", event.id, pawl::to_string(event.reason),
                       event.record.message);
            ++letters;  // here a service would raise an alert
        });
        // [/listen]
        {
            const pawl::Subscription never = scheduler.on_event<pawl::JobSucceeded>(
                [](const auto&) { example::expect(false, "a subscription ends with its object"); });
        }
        example::Endings endings{scheduler};

        scheduler.on<FetchPage>(fetch);
        scheduler.start();
        const auto good = scheduler.enqueue(FetchPage{"good"}).submit().id();
        const auto slow = scheduler.enqueue(FetchPage{"slow"}).submit().id();
        const auto bad = scheduler.enqueue(FetchPage{"bad"}).submit().id();
        endings.wait_for({good, slow, bad});
        scheduler.stop();

        example::expect(retries == 1 && letters == 1, "one retry and one dead letter were told");
    });
}
