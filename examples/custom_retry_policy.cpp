// Who decides about a failure: rules per type of error, marks, and a policy for all that is left.

#include <cstdint>
#include <stdexcept>
#include <string>

#include "example.hpp"

using namespace std::chrono_literals;

// [mark]
struct AccountClosed : std::runtime_error {
    using runtime_error::runtime_error;
};
PAWL_DO_NOT_RETRY(AccountClosed, "a closed account stays closed");
// [/mark]

namespace {

struct GatewayBusy : std::runtime_error {
    using runtime_error::runtime_error;
};
struct InvoiceGone : std::runtime_error {
    using runtime_error::runtime_error;
};
struct Unforeseen : std::runtime_error {
    using runtime_error::runtime_error;
};

struct PayInvoice {
    static constexpr std::string_view kind = "custom_retry_policy.pay_invoice";
    std::string trouble;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(PayInvoice, trouble)
};

void pay(const PayInvoice& job, pawl::JobContext& context) {
    if (job.trouble == "busy" && context.attempt() < 4) throw GatewayBusy("429, try again");
    if (job.trouble == "gone") throw InvoiceGone("invoice 7 was deleted");
    if (job.trouble == "closed") throw AccountClosed("account 12");
    if (job.trouble == "unforeseen") throw Unforeseen("the ledger said 418");
}

// [policy]
/// Gives errors that nobody foresaw one more try. It is asked about what a rule retries as well, and leaves that alone.
class OneMoreTry final : public pawl::RetryPolicy {
public:
    bool should_retry(int attempt, const pawl::Failure& failure) const override {
        return failure.is<GatewayBusy>() || attempt <= 1;
    }
    pawl::Duration delay(int /*attempt*/, const pawl::Failure& failure) const override {
        return failure.is<std::bad_alloc>() ? 5min : 100ms;  // zero would leave it to the job's backoff
    }
};
// [/policy]

void show(const char* trouble, const pawl::JobInfo& job) {
    fmt::print("{:<12} {:<10} {:<13} {} counted failures\n", trouble, pawl::to_string(job.state),
               job.reason == pawl::Reason::none ? "" : pawl::to_string(job.reason), job.attempts);
}

}  // namespace

int main() {
    return example::run([] {
        // [options]
        pawl::Scheduler scheduler{{.connection = example::dsn(),
                                   .migrate_on_start = true,
                                   .logger = example::no_log(),
                                   .retry_policy = std::make_shared<OneMoreTry>()}};
        // [/options]
        example::Endings endings{scheduler};

        // [rules]
        scheduler.on<PayInvoice>(pay)
            .retry_on<GatewayBusy>({.attempts = 10, .wait = 50ms, .jitter = 0.5})
            .discard_on<InvoiceGone>(
                [](const pawl::Failure& failure) { fmt::print("discarded: {}\n", failure.message()); });
        // [/rules]
        scheduler.start();

        const auto busy = scheduler.enqueue(PayInvoice{"busy"}).submit().id();
        const auto gone = scheduler.enqueue(PayInvoice{"gone"}).submit().id();
        const auto closed = scheduler.enqueue(PayInvoice{"closed"}).submit().id();
        const auto unforeseen = scheduler.enqueue(PayInvoice{"unforeseen"}).submit().id();
        endings.wait_for({busy, gone, closed, unforeseen});

        show("busy", *scheduler.find(busy));
        show("gone", *scheduler.find(gone));
        show("closed", *scheduler.find(closed));
        show("unforeseen", *scheduler.find(unforeseen));

        example::expect(scheduler.find(busy)->state == pawl::State::succeeded, "the rule retries until it works");
        example::expect(scheduler.find(gone)->discarded, "discard_on leaves no dead letter");
        example::expect(scheduler.find(closed)->reason == pawl::Reason::do_not_retry, "a mark ends it at once");
        example::expect(scheduler.find(unforeseen)->reason == pawl::Reason::policy, "the policy ends the rest");
        scheduler.stop();
    });
}
