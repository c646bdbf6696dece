// What a handler may do: return a result, ask to be run later, end its job, mind its time limit.

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "example.hpp"

using namespace std::chrono_literals;

// [job]
struct ScaleImage {
    static constexpr std::string_view kind = "handlers.scale_image";  // stored: renaming the struct changes nothing
    std::string path;
    int width{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(ScaleImage, path, width)
};
// [/job]

struct WarmCache {  // nothing to store
    static constexpr std::string_view kind = "handlers.warm_cache";
};

struct FetchReport {
    static constexpr std::string_view kind = "handlers.fetch_report";
    std::string customer;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(FetchReport, customer)
};

struct Crunch {
    static constexpr std::string_view kind = "handlers.crunch";
};

namespace {

// [reply]
pawl::Reply<std::string> fetch(const FetchReport& job, pawl::JobContext& context) {
    if (job.customer == "gone") return pawl::Cancel{"the customer has left"};
    if (!context.param("ready")) throw pawl::Discard{"nobody asked for it"};  // failed, but no dead letter
    return "17 pages";                                                        // the result, as JSON
}
// [/reply]

// [object]
class Images {
public:
    int scale(const ScaleImage& job) const { return job.width * 2; }
};
// [/object]

// [stop]
void crunch(const Crunch&, pawl::JobContext& context) {
    while (true) {
        context.throw_if_stopped();  // out of here when time is up, or the service stops
        std::this_thread::sleep_for(10ms);
    }
}
// [/stop]

}  // namespace

int main() {
    return example::run([] {
        pawl::Scheduler scheduler{
            {.connection = example::dsn(), .migrate_on_start = true, .logger = example::no_log()}};
        example::Endings endings{scheduler};
        Images images;
        int snoozed = 0;

        // [register]
        scheduler.on<ScaleImage>(images, &Images::scale);
        scheduler.on<WarmCache>([&](const WarmCache&) {
            if (snoozed++ == 0) throw pawl::Snooze{100ms};  // again later, and this run does not count
        });
        scheduler.on<FetchReport>(fetch);
        scheduler.on<Crunch>(crunch).with_timeout(200ms).with_max_retries(0);
        // [/register]
        scheduler.start();

        // [submit]
        const pawl::JobHandle scaled = scheduler.enqueue(ScaleImage{"cat.png", 640})
                                           .with_priority(pawl::Priority::high)
                                           .with_delay(50ms)
                                           .with_tags({"media"})
                                           .submit();
        // [/submit]
        const auto warmed = scheduler.enqueue(WarmCache{}).submit();
        const auto fetched = scheduler.enqueue(FetchReport{"ann"}).with_param("ready", "yes").submit();
        const auto discarded = scheduler.enqueue(FetchReport{"bob"}).submit();
        const auto canceled = scheduler.enqueue(FetchReport{"gone"}).submit();
        const auto crunched = scheduler.enqueue(Crunch{}).submit();
        endings.wait_for({scaled.id(), warmed.id(), fetched.id(), discarded.id(), canceled.id(), crunched.id()});

        for (const auto& handle : {scaled, warmed, fetched, discarded, canceled, crunched}) {
            // [find]
            const std::optional<pawl::JobInfo> job = scheduler.find(handle.id());
            fmt::print("{:<22} {:<10} attempts {} result {:<11} {}\n", job->kind, pawl::to_string(job->state),
                       job->attempts, job->result.value_or("none"), job->error ? job->error->message : "");
            // [/find]
        }
        example::expect(scheduler.find(scaled.id())->result == "1280", "what a handler returns is the result");
        example::expect(scheduler.find(warmed.id())->attempts == 0, "a snoozed run is not counted");
        example::expect(scheduler.find(discarded.id())->discarded, "a discarded job is no dead letter");
        example::expect(scheduler.find(canceled.id())->state == pawl::State::canceled, "a handler may cancel its job");
        example::expect(scheduler.find(crunched.id())->reason == pawl::Reason::timed_out, "a limit is a limit");
        scheduler.stop();
    });
}
