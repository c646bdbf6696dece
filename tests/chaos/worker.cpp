// A process that runs a scheduler and writes down what its handlers do and its listeners hear: worker DSN SCHEMA LEDGER SEED
// [--migrate]. It stops when told by SIGTERM.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>
#include <pawl/scheduler.hpp>
#include <pawl/stop_report.hpp>

#include "chaos/work.hpp"
#include "support/signal.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Work;

/// Each line is one write to a file that is only appended to: it survives this process and needs no database.
class Ledger {
public:
    explicit Ledger(const char* path) : file_(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
        if (file_ < 0) std::abort();
    }
    void line(const std::string& text) const {
        const std::string whole = text + '\n';
        if (::write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) std::abort();
    }

private:
    const int file_;
};

/// What a run does. By its claim and not by its attempt, which a snooze does not count.
std::uint64_t draw(std::uint64_t seed, JobId id, ClaimToken token) {
    std::uint64_t x = seed ^ (static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15U) ^ static_cast<std::uint64_t>(token);
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

void hold(const JobContext& context, std::chrono::milliseconds time) {
    tests::Signal stopped;
    const std::stop_callback raise(context.stop_token(), [&] { stopped.raise(); });
    (void)stopped.wait_for(time);
    context.throw_if_stopped();
}

void work(const JobContext& context, std::uint64_t dice) {
    const auto spread = std::chrono::milliseconds(dice / 1000 % 400);
    switch (dice % 100) {
        case 0:
        case 1:
            throw PermanentError("for good");
        case 2:
        case 3:
            throw Snooze{100ms};
        case 4:
            throw RetryAfter{.delay = 50ms};
        case 5:
            throw Discard{"not wanted"};
        default:
            if (dice % 100 < 15) throw TransientError("not now");
            if (dice % 100 < 30) hold(context, spread);
    }
}

}  // namespace

int main(int argc, char** argv) {
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &told, nullptr);

    if (argc < 5) return 2;
    Options options{.connection = argv[1], .schema = argv[2]};
    options.queues = {{"default", 4}};
    options.heartbeat = 300ms;
    options.node_expiry = 1500ms;
    options.poll_floor = 500ms;
    options.default_timeout = 5s;
    options.backoff = Backoff::fixed(50ms);
    options.reconnect = {.first = 5ms, .longest = 200ms};
    options.logger = std::make_shared<spdlog::logger>("silent");
    options.migrate_on_start = argc > 5 && std::string_view(argv[5]) == "--migrate";

    const Ledger ledger(argv[3]);
    const std::uint64_t seed = std::strtoull(argv[4], nullptr, 10);
    Scheduler scheduler(options);
    scheduler.on<Work>([&](const Work& job, JobContext& context) {
        ledger.line(fmt::format("begun {} {} {}", context.id(), context.claim_token(), ::getpid()));
        if (job.kills && draw(seed + 1, context.id(), context.claim_token()) % 2 == 0) std::raise(SIGKILL);
        work(context, draw(seed, context.id(), context.claim_token()));
        ledger.line(fmt::format("returned {} {} {}", context.id(), context.claim_token(), ::getpid()));
    });
    const auto succeeded = scheduler.on_event<JobSucceeded>(
        [&](const JobSucceeded& event) { ledger.line(fmt::format("succeeded {}", event.id)); });
    const auto failed =
        scheduler.on_event<JobFailed>([&](const JobFailed& event) { ledger.line(fmt::format("failed {}", event.id)); });
    const auto stale = scheduler.on_event<StaleOutcome>(
        [&](const StaleOutcome& event) { ledger.line(fmt::format("stale {} {}", event.id, event.claim_token)); });
    try {
        scheduler.start();
    } catch (const std::exception& error) {
        std::puts(error.what());
        return 1;
    }
    std::puts("started");
    std::fflush(stdout);
    int number = 0;
    sigwait(&told, &number);
    return scheduler.stop(300ms, 1s).clean() ? 0 : 3;
}
