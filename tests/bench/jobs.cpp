// What a service does all day, measured through the public API on the server of PAWL_DSN, each in a schema of its own:
// drain a backlog, enqueue singly and in bulk, pick up on an idle scheduler. Durable commits, history kept.
//
//     pawl_bench_jobs [--quick]

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <pawl/pawl.hpp>

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

struct Noop {
    static constexpr std::string_view kind = "bench.noop";
    int number{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Noop, number)
};

struct Scale {
    int rounds{5};
    int drained{200'000};
    int drained_singly{20'000};
    int bulk{100'000};
    int singles{5'000};
    int pickups{500};
};

double seconds_since(SteadyClock::time_point begun) {
    return std::chrono::duration<double>(SteadyClock::now() - begun).count();
}

std::string dsn() {
    const char* given = std::getenv("PAWL_DSN");
    return given != nullptr ? given : "";
}

/// A schema nobody else uses; left behind on the throw-away server.
pawl::Options options() {
    static int number = 0;
    return {.connection = dsn(),
            .schema = fmt::format("bench_{}", ++number),
            .queues = {{"default", 2}},
            .migrate_on_start = true};
}

std::vector<Noop> noops(int count) {
    std::vector<Noop> jobs(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) jobs[static_cast<std::size_t>(i)].number = i;
    return jobs;
}

/// Counts settled jobs: a run counts when its success is committed.
class Settled {
public:
    explicit Settled(pawl::Scheduler& scheduler, int wanted)
        : wanted_(wanted), subscription_(scheduler.on_event<pawl::JobSucceeded>([this](const pawl::JobSucceeded&) {
              if (++count_ == wanted_) all_.release();
          })) {}
    void wait() { all_.acquire(); }

private:
    const int wanted_;
    std::atomic<int> count_{0};
    std::binary_semaphore all_{0};
    pawl::Subscription subscription_;
};

double drain(int jobs, bool singly) {
    pawl::Options setup = options();
    setup.event_queue = static_cast<std::size_t>(jobs) * 2;
    pawl::migrate(setup.connection, setup.schema);
    pawl::Scheduler scheduler{setup};
    scheduler.on<Noop>([](const Noop&) {});
    if (singly) {
        for (const Noop& job : noops(jobs)) scheduler.enqueue(job).submit();
    } else {
        scheduler.enqueue_many(noops(jobs));
    }
    Settled settled(scheduler, jobs);
    const auto begun = SteadyClock::now();
    scheduler.start();
    settled.wait();
    const double rate = jobs / seconds_since(begun);
    scheduler.stop();
    return rate;
}

double bulk_enqueue(int jobs) {
    const pawl::Options setup = options();
    pawl::migrate(setup.connection, setup.schema);
    pawl::Scheduler scheduler{setup};
    const auto call = noops(1000);
    scheduler.enqueue(Noop{}).submit();
    const auto begun = SteadyClock::now();
    for (int done = 0; done < jobs; done += 1000) scheduler.enqueue_many(call);
    return jobs / seconds_since(begun);
}

double single_enqueue(int jobs) {
    const pawl::Options setup = options();
    pawl::migrate(setup.connection, setup.schema);
    pawl::Scheduler scheduler{setup};
    scheduler.enqueue(Noop{}).submit();
    const auto begun = SteadyClock::now();
    for (int i = 0; i < jobs; ++i) scheduler.enqueue(Noop{i}).submit();
    return jobs / seconds_since(begun);
}

/// Milliseconds from the call to the handler's start, ascending.
std::vector<double> pickups(int count) {
    pawl::Scheduler scheduler{options()};
    std::binary_semaphore started{0};
    SteadyClock::time_point at;
    scheduler.on<Noop>([&](const Noop&) {
        at = SteadyClock::now();
        started.release();
    });
    std::counting_semaphore<> settled{0};
    const auto heard = scheduler.on_event<pawl::JobSucceeded>([&](const pawl::JobSucceeded&) { settled.release(); });
    scheduler.start();
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
        const auto begun = SteadyClock::now();
        scheduler.enqueue(Noop{i}).submit();
        started.acquire();
        times.push_back(std::chrono::duration<double, std::milli>(at - begun).count());
        settled.acquire();
    }
    scheduler.stop();
    std::sort(times.begin(), times.end());
    return times;
}

template <class Measure>
void report(const char* name, const char* unit, int rounds, Measure measure) {
    std::vector<double> results;
    for (int round = 0; round < rounds; ++round) results.push_back(measure());
    std::sort(results.begin(), results.end());
    fmt::print("{:<44} {:>10.0f} {:<7} ({:.0f} to {:.0f}, {} rounds)\n", name, results[results.size() / 2], unit,
               results.front(), results.back(), rounds);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    Scale scale;
    if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) {
        scale = {
            .rounds = 1, .drained = 50'000, .drained_singly = 5'000, .bulk = 50'000, .singles = 2'000, .pickups = 100};
    } else if (argc > 1) {
        fmt::print("usage: {} [--quick]\n", argv[0]);
        return 2;
    }
    try {
        fmt::print("{:<44} {:>10} {:<7}\n", "measure", "median", "unit");
        report("drain, enqueued in bulk", "jobs/s", scale.rounds, [&] { return drain(scale.drained, false); });
        report("drain, enqueued one by one", "jobs/s", scale.rounds, [&] { return drain(scale.drained_singly, true); });
        report("bulk enqueue, calls of 1,000", "jobs/s", scale.rounds, [&] { return bulk_enqueue(scale.bulk); });
        report("single enqueue, one client", "jobs/s", scale.rounds, [&] { return single_enqueue(scale.singles); });
        const std::vector<double> times = pickups(scale.pickups);
        fmt::print("{:<44} {:>10.2f} {:<7} (p99 {:.2f}, {} times)\n", "pick-up, idle, call to handler, p50",
                   times[times.size() / 2], "ms", times[times.size() * 99 / 100], times.size());
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    return 0;
}
