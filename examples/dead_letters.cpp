// After an incident: look at the dead letters, try one, put the others back at a rate, and write down who and why.

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "example.hpp"

using namespace std::chrono_literals;

namespace {

struct ChargeCard {
    static constexpr std::string_view kind = "dead_letters.charge_card";
    int order{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(ChargeCard, order)
};

class GatewayDown : public std::runtime_error {
    using runtime_error::runtime_error;
};

}  // namespace

int main() {
    return example::run([] {
        pawl::Scheduler scheduler{
            {.connection = example::dsn(), .migrate_on_start = true, .logger = example::no_log()}};
        std::atomic<bool> down{true};
        // [runbook]
        scheduler
            .on<ChargeCard>([&](const ChargeCard& job) {
                if (job.order == 13) throw std::invalid_argument("no such card");
                if (down) throw GatewayDown("the gateway does not answer");
            })
            .with_max_retries(0)
            .with_runbook("https://wiki.example.org/payments/dead-letters");
        // [/runbook]
        example::Endings endings{scheduler};
        scheduler.start();
        const auto first = scheduler.enqueue(ChargeCard{1}).submit().id();
        const auto second = scheduler.enqueue(ChargeCard{2}).submit().id();
        const auto third = scheduler.enqueue(ChargeCard{3}).submit().id();
        const auto wrong = scheduler.enqueue(ChargeCard{13}).submit().id();
        endings.wait_for({first, second, third, wrong});

        // [look]
        pawl::DeadLetterPage page = scheduler.dead_letters({.kind = "dead_letters.charge_card"}, {.limit = 50});
        for (const pawl::DeadLetter& letter : page.letters) {
            fmt::print("job {}: {} after {} attempts, {}: {}\n  see {}\n", letter.id, pawl::to_string(letter.reason),
                       letter.attempts, letter.error->type, letter.error->message, letter.runbook);
        }
        // page.next, if there is one, goes into {.after = …} for the next page
        // [/look]
        example::expect(page.letters.size() == 4 && !page.next, "four dead letters on one page");

        down = false;  // the gateway is back

        // [try]
        const pawl::ActResult tried = scheduler.retry_job(first, {.by = "operations", .why = "the gateway is back"});
        // [/try]
        example::expect(tried.done, "a dead letter can be put back");
        example::Endings again{scheduler};
        again.wait_for({first});

        // [many]
        const pawl::Filter hit{.kind = "dead_letters.charge_card", .error_contains = "does not answer"};
        fmt::print("{} would be put back\n", scheduler.count_dead_letters(hit));
        const std::vector<pawl::JobId> put_back =
            scheduler.retry_jobs(hit, 1000, {.by = "operations", .why = "the gateway is back", .per_second = 20});
        // [/many]
        example::expect(put_back.size() == 2, "the two that met the gateway are put back, the wrong card is not");
        again.wait_for({second, third});
        scheduler.stop();

        // [history]
        for (const pawl::AttemptInfo& attempt : scheduler.attempts(second)) {
            fmt::print("run {} failed: {} -> {}\n", attempt.attempt, attempt.record.message, attempt.decision);
        }
        for (const pawl::Act& act : scheduler.acts(second)) {
            fmt::print("{} by {}: {}\n", act.verb, act.by, act.why);
        }
        // [/history]
        example::expect(scheduler.find(second)->state == pawl::State::succeeded, "what was put back succeeded");
        example::expect(scheduler.count_dead_letters(pawl::Filter::all()) >= 1, "the wrong card stays");
    });
}
