// No secret of an error reaches a table, an event or a log line: what the default removes, and how to add to it.

#include <cstdint>
#include <stdexcept>
#include <string>

#include "example.hpp"

namespace {

struct SyncAccount {
    static constexpr std::string_view kind = "error_sanitizer.sync_account";
};

void sync_account(const SyncAccount&) {
    throw pawl::PermanentError(
        "cannot reach postgresql://sync:hunter2@db.internal/accounts?sslmode=require as customer@example.org, "
        "session_key=f00dfeed, customer cust_8812, card 4111 1111 1111 1111");
}

// [custom]
/// The default, then what only we know.
class OurSanitizer final : public pawl::ErrorSanitizer {
public:
    pawl::ErrorRecord sanitize(const pawl::Failure& failure) const override {
        pawl::ErrorRecord record = default_.sanitize(failure);
        if (const auto at = record.message.find("db.internal"); at != std::string::npos) {
            record.message.replace(at, std::string_view("db.internal").size(), "(a host)");
        }
        return record;
    }

private:
    // [settings]
    pawl::DefaultErrorSanitizer default_{{.keys = {"session_key"}, .prefixes = {"cust_"}, .max_bytes = 500}};
    // [/settings]
};
// [/custom]

}  // namespace

int main() {
    return example::run([] {
        // [options]
        pawl::Scheduler scheduler{{.connection = example::dsn(),
                                   .migrate_on_start = true,
                                   .logger = example::no_log(),
                                   .sanitizer = std::make_shared<OurSanitizer>()}};
        // [/options]
        example::Endings endings{scheduler};
        scheduler.on<SyncAccount>(sync_account);
        scheduler.start();
        const auto job = scheduler.enqueue(SyncAccount{}).submit().id();
        endings.wait_for({job});

        const auto info = scheduler.find(job);
        example::expect(info && info->error, "a failed job keeps its sanitized error");
        const std::string& message = info->error->message;
        fmt::print("{}\n  {}\n", info->error->type, message);
        for (const char* const secret : {"hunter2", "customer@", "f00dfeed", "8812", "4111", "db.internal"}) {
            example::expect(message.find(secret) == std::string::npos, fmt::format("{} is not stored", secret));
        }
        scheduler.stop();
    });
}
