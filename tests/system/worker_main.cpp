// A process that runs a scheduler, to be stopped, paused and killed by the tests: worker DSN SCHEMA [--migrate]
// [--crash-budget=N] [--die-on-failure]. It says on stdout what happens to it, a line each, and stops when told by SIGTERM.

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <spdlog/logger.h>

#include <pawl/control.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>
#include <pawl/scheduler.hpp>
#include <pawl/stop_report.hpp>

#include "store/pg/connection.hpp"
#include "support/jobs.hpp"
#include "support/signal.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;

void say(const std::string& line) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    std::fputs((line + '\n').c_str(), stdout);
    std::fflush(stdout);
}

/// The side log of the runs, which knows nothing of the library.
class Ledger {
public:
    Ledger(std::string dsn, const std::string& schema)
        : dsn_(std::move(dsn)),
          insert_{"note",
                  store::pg::with_schema("insert into @schema@.ledger (id, pid, token) values ($1, $2, $3)", schema)} {}

    void note(const JobContext& context) const {
        thread_local store::pg::Connection connection(dsn_, {.application_name = "pawl test"});
        connection.open();
        connection.run(insert_,
                       store::pg::Params{}.add(context.id()).add(std::int64_t{::getpid()}).add(context.claim_token()));
    }

private:
    std::string dsn_;
    store::pg::Statement insert_;
};

void wait_for_stop(const JobContext& context) {
    tests::Signal stopped;
    const std::stop_callback raise(context.stop_token(), [&] { stopped.raise(); });
    (void)stopped.wait();
    context.throw_if_stopped();
}

}  // namespace

int main(int argc, char** argv) {
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    // Before there are threads, so that all of them leave it to the wait below.
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &told, nullptr);

    if (argc < 3) return 2;
    Options options{.connection = argv[1], .schema = argv[2]};
    options.queues = {{"default", 4}};
    options.heartbeat = 300ms;
    options.node_expiry = 1500ms;
    options.backoff = Backoff::none();
    options.reconnect = {.first = 5ms, .longest = 50ms};
    options.logger = std::make_shared<spdlog::logger>("silent");
    bool dies_on_failure = false;
    for (int i = 3; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--migrate") options.migrate_on_start = true;
        if (argument == "--die-on-failure") dies_on_failure = true;
        if (argument.starts_with("--crash-budget=")) options.crash_budget = std::stoi(std::string(argument.substr(15)));
    }

    const Ledger ledger(argv[1], argv[2]);
    Scheduler scheduler(options);
    scheduler.on<tests::Count>([&](const tests::Count&, JobContext& context) { ledger.note(context); });
    scheduler
        .on<tests::Charge>([&](const tests::Charge&, JobContext& context) {
            ledger.note(context);
            say("charging");
            std::string line;
            std::getline(std::cin, line);
        })
        .non_idempotent();
    scheduler.on<tests::Note>([&](const tests::Note& note, JobContext& context) {
        ledger.note(context);
        if (note.text == "kill") std::raise(SIGKILL);
        if (note.text == "kill in a step") return context.once("charge", [] { std::raise(SIGKILL); });
        if (note.text == "kill after a step") {
            bool charged = false;
            context.once("charge", [&] { charged = true; });
            if (charged) std::raise(SIGKILL);
            return;
        }
        if (note.text == "fail") throw PermanentError("told to");
        say("holding");
        if (note.text == "until stopped") return wait_for_stop(context);
        std::string line;
        std::getline(std::cin, line);
        say("let go");
    });
    const auto failed = scheduler.on_event<JobFailed>([&](const JobFailed&) {
        if (dies_on_failure) std::raise(SIGKILL);
    });
    const auto stale = scheduler.on_event<StaleOutcome>([](const StaleOutcome&) { say("stale"); });
    const auto fenced = scheduler.on_event<NodeFenced>([](const NodeFenced&) { say("fenced"); });
    const auto succeeded = scheduler.on_event<JobSucceeded>([](const JobSucceeded& event) {
        if (event.kind == tests::Note::kind) say("succeeded");
    });
    try {
        scheduler.start();
    } catch (const std::exception& error) {
        say(error.what());
        return 1;
    }
    say("started");
    int number = 0;
    sigwait(&told, &number);
    return scheduler.stop().clean() ? 0 : 3;
}
