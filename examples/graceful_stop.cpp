// Stopping a service on SIGTERM. Signals are the host's business: pawl installs no handler and never ends the process.

#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include <unistd.h>

#include <pawl/testing.hpp>

#include "example.hpp"

using namespace std::chrono_literals;

namespace {

struct Render {
    static constexpr std::string_view kind = "graceful_stop.render";
    int frame{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Render, frame)
};

const char* word(pawl::StopReport::Fate fate) {
    switch (fate) {
        case pawl::StopReport::Fate::finished:
            return "finished";
        case pawl::StopReport::Fate::released:
            return "given back";
        case pawl::StopReport::Fate::left:
            return "left";
    }
    return "";
}

}  // namespace

int main() {
    return example::run([] {
        // [mask]
        // First of all, so that every thread, ours and pawl's, inherits it: SIGTERM is only taken by sigwait below.
        sigset_t stop_signals;
        sigemptyset(&stop_signals);
        sigaddset(&stop_signals, SIGTERM);
        sigaddset(&stop_signals, SIGINT);
        pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
        // [/mask]

        std::atomic<int> begun{0};
        const auto render = [&begun](const Render& job, pawl::JobContext& context) {
            ++begun;
            begun.notify_all();
            if (job.frame == 1) return;
            while (true) {  // a long run asks now and then whether it should end
                context.throw_if_stopped();
                std::this_thread::sleep_for(10ms);
            }
        };

        pawl::Scheduler scheduler{{.connection = example::dsn(),
                                   .queues = {{"graceful_stop", 2}},
                                   .migrate_on_start = true,
                                   .logger = example::no_log()}};
        scheduler.on<Render>(render);
        scheduler.start();
        scheduler.enqueue_many({Render{1}, Render{2}, Render{3}, Render{4}}, {.queue = "graceful_stop"});
        for (int seen = begun; seen < 3; seen = begun) begun.wait(seen);

        kill(getpid(), SIGTERM);  // as a service manager would

        // [stop]
        int signal = 0;
        sigwait(&stop_signals, &signal);
        const pawl::StopReport report = scheduler.stop(200ms, 2s);  // to end by themselves, then by their stop tokens
        for (const auto& job : report.jobs) {
            fmt::print("job {}: {}{}{}\n", job.id, word(job.fate), job.why.empty() ? "" : ": ", job.why);
        }
        const int exit_code = report.clean() ? 0 : 1;  // not clean: a thread hangs, or the database was away
        // [/stop]
        example::expect(exit_code == 0 && signal == SIGTERM, "every handler listened to its stop token");

        // Nothing is lost and no attempt was charged: whoever comes next runs what was given back.
        const auto left = scheduler.counts("graceful_stop");
        fmt::print("{} jobs wait for another process\n", left.ready);
        example::expect(left.ready == 3 && left.running == 0, "what did not finish is pending again");

        pawl::Scheduler next{
            {.connection = example::dsn(), .queues = {{"graceful_stop", 2}}, .logger = example::no_log()}};
        next.on<Render>([](const Render&, pawl::JobContext& context) {
            example::expect(context.attempt() == 1, "an interrupted run is not counted");
        });
        example::expect(pawl::testing::drain(next) == 3, "the next one runs them");
    });
}
