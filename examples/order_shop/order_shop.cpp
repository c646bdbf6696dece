// The main example: an order shop. Every order and its jobs are stored in one transaction; then things go wrong.

#include <string>

#include <fmt/format.h>

#include <pawl/pawl.hpp>

#include "../example.hpp"
#include "narrator.hpp"
#include "outside_world.hpp"
#include "shop.hpp"

namespace {

void place_orders(shop::Shop& shop) {
    fmt::print("An order shop. An order and the job that charges it are stored in one transaction.\n\n");
    const auto placed = [&](const char* customer, const char* item, std::int64_t cents, const char* what_comes) {
        const auto order = shop.place_order(customer, item, cents);
        fmt::print("  order {}  {} buys {:<7} for {:6.2f} EUR: {}\n", order.id, customer, item,
                   static_cast<double>(cents) / 100, what_comes);
    };
    placed("Bakery", "a book", 1990, "all will go well");
    placed("School", "a lamp", 4900, "the card gateway will be busy, twice");
    placed("Museum", "a chair", 12900, "the bank will decline the card");
    placed("Theater", "a clock", 3500, "the warehouse will hang, once, beyond the time limit");
    placed("Library", "a kite", 2400, "the mail server will not know its mailbox");
    const auto gone = shop.place_order("Harbor", "a desk", 59900, true);
    fmt::print("  order {}  Harbor buys a desk and changes its mind: rolled back, no order and no job\n", gone.id);
}

void check(pawl::Scheduler& scheduler, const shop::Shop& shop) {
    int dead_letters = 0;
    int succeeded = 0;
    for (const auto& [id, customer] : shop.jobs()) {
        const auto job = scheduler.find(id);
        example::expect(job.has_value(), fmt::format("job {} is there", id));
        example::expect(customer != "Harbor", "what was rolled back is not there");
        if (job->state == pawl::State::failed) ++dead_letters;
        if (job->state == pawl::State::succeeded) ++succeeded;
        if (customer == "School" && job->kind == shop::ChargeCard::kind) {
            example::expect(job->attempts == 2, "School's card is charged at the third run");
        }
        if (customer == "Museum") {
            example::expect(job->reason == pawl::Reason::do_not_retry && job->attempts == 0,
                            "a declined card is a dead letter at once");
        }
        if (customer == "Theater" && job->kind == shop::PackParcel::kind) {
            example::expect(job->attempts == 1, "Theater's parcel is packed at the second run");
        }
        if (customer == "Library" && job->kind == shop::SendReceipt::kind) {
            example::expect(job->reason == pawl::Reason::exhausted && job->attempts == 3,
                            "Library's receipt is tried three times");
        }
    }
    example::expect(succeeded == 11 && dead_letters == 2, "11 jobs succeeded, and 2 are dead letters");
}

}  // namespace

int main() {
    return example::run([] {
        pawl::migrate(example::dsn());
        pawl::Scheduler scheduler{{.connection = example::dsn(), .logger = example::no_log()}};
        shop::OutsideWorld world;
        shop::Shop shop{example::dsn(), scheduler, world};

        place_orders(shop);
        fmt::print("\nThe workers start. What happens, as the events tell it:\n\n");
        shop::Narrator narrator{scheduler, shop};
        scheduler.start();

        // Charging makes two more jobs per order, for all but Museum's.
        const bool ended = narrator.wait_for_endings(5 + 2 * 4);
        example::expect(ended, "all jobs end within 12 seconds");
        const auto report = scheduler.stop();
        example::expect(report.clean(), "nothing is left behind");

        shop::print_tables(example::dsn(), shop);
        check(scheduler, shop);
        fmt::print(
            "\n11 jobs succeeded, 2 of them after failures. 2 are dead letters, kept for a person to look at.\n");
    });
}
