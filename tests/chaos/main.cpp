// Real processes, faults at random, and a check of what they left: pawl_chaos [--seed N] [--seconds S] [--without RULE].
// PAWL_DSN names a PostgreSQL of its own, which it crashes. Ends with 1 when an invariant is broken.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <pqxx/pqxx>
#include <spdlog/logger.h>

#include <pawl/errors.hpp>
#include <pawl/scheduler.hpp>

#include "chaos/checks.hpp"
#include "chaos/work.hpp"
#include "store/pg/connection.hpp"
#include "store/pg/migrator.hpp"
#include "store/pg/params.hpp"
#include "support/processes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using std::chrono::steady_clock;
using tests::Work;
using tests::Worker;

constexpr std::size_t workers = 4;
/// For what is left once the faults have ended.
constexpr auto patience = 90s;

/// A trigger that takes a rule of the library out from below it, so that it is seen whether the checks notice.
struct Sabotage {
    std::string_view event;
    std::string_view body;
};
const std::map<std::string_view, Sabotage> sabotages{
    // Nobody is found dead.
    {"rescue", {"before update on @schema@.node", "new.state := replace(new.state, 'dead', 'alive'); return new;"}},
    // A claim that was taken away is there all the same, for its former owner too.
    {"fencing",
     {"after delete on @schema@.claim",
      "if bit_count(old.settled) < 127 and old.lost_by is null then old.alone_in := null; "
      "insert into @schema@.claim overriding system value values (old.*); end if; return null;"}},
    // Now and then a settle leaves its job in the claim.
    {"settling",
     {"before update on @schema@.claim", "if random() < 0.05 then new.settled := old.settled; end if; return new;"}},
    // A settle in doubt cannot know that it was applied.
    {"marks", {"before insert on @schema@.settled", "return null;"}},
};

struct Wish {
    std::uint64_t seed = std::random_device{}();
    std::chrono::seconds seconds{60};
    std::string without;
};

class Chaos {
public:
    Chaos(std::string dsn, const Wish& wish)
        : dsn_(std::move(dsn)),
          wish_(wish),
          random_(wish.seed),
          schema_(fmt::format("chaos_{}", ::getpid())),
          ledger_(fmt::format("/tmp/pawl-chaos-{}.ledger", ::getpid())),
          admin_(dsn_, {.application_name = "chaos"}) {
        sql("create schema if not exists @schema@");
        sql("drop schema @schema@ cascade");
        store::pg::migrate(admin_, schema_);
        if (!wish_.without.empty()) take_out(sabotages.at(wish_.without));
        Options options{.connection = dsn_, .schema = schema_, .queues = {}};
        options.logger = std::make_shared<spdlog::logger>("silent");
        producer_ = std::make_unique<Scheduler>(options);
    }
    Chaos(const Chaos&) = delete;
    Chaos& operator=(const Chaos&) = delete;
    ~Chaos() { ::unlink(ledger_.c_str()); }

    /// Whether nothing was broken.
    bool run() {
        for (std::size_t i = 0; i < workers; ++i) start_worker();
        const auto until = steady_clock::now() + wish_.seconds;
        while (steady_clock::now() < until) {
            retrying([this] { enqueue(); });
            disturb();
            bury();
            pause(between(20ms, 200ms));
        }
        std::cout << "the faults have ended: " << told() << '\n';
        const bool quiet = calm_down();
        std::vector<std::string> broken =
            tests::broken_invariants(opened(), schema_, tests::read_ledger(ledger_), asked_);
        if (!quiet) broken.emplace_back("jobs are left, or a worker does not run any");
        for (const std::string& line : broken) std::cout << "BROKEN " << line << '\n';
        retrying([this] { sql("drop schema @schema@ cascade"); });
        std::cout << fmt::format("{} jobs, {} broken invariants, seed {}\n", asked_.committed.size(), broken.size(),
                                 wish_.seed);
        return broken.empty();
    }

private:
    void take_out(const Sabotage& rule) {
        sql(fmt::format("create function @schema@.sabotage() returns trigger language plpgsql as $$ begin {} end $$",
                        rule.body));
        sql(fmt::format("create trigger sabotage {} for each row execute function @schema@.sabotage()", rule.event));
    }

    // ---- what is asked for

    void enqueue() {
        pqxx::connection connection(dsn_);
        pqxx::work transaction(connection);
        std::vector<JobId> ids;
        const int n = number(1, 20);
        for (int i = 0; i < n; ++i) {
            ids.push_back(
                producer_->enqueue(Work{i, number(1, 400) == 1}).with_max_retries(3).submit(transaction).id());
        }
        for (const JobId id :
             producer_->enqueue_many(transaction, std::vector<Work>(static_cast<std::size_t>(number(1, 150)))))
            ids.push_back(id);
        if (number(1, 10) == 1) {
            transaction.abort();
            asked_.rolled_back.insert(ids.begin(), ids.end());
            return;
        }
        transaction.commit();
        asked_.committed.insert(ids.begin(), ids.end());
        last_ = ids;
    }

    // ---- what is done to it

    void disturb() {
        const std::vector<std::pair<int, std::function<void()>>> faults{
            {6, [this] { kill_worker(SIGKILL); }},
            {3, [this] { suspend_worker(); }},
            {4, [this] { kill_worker(SIGTERM); }},
            {20, [this] { end_sessions(); }},
            {2, [this] { crash_server(); }},
            {30, [this] { act_on_a_job(); }},
            {35, [] {}},
        };
        int dice = number(0, 99);
        for (const auto& [part, fault] : faults) {
            if ((dice -= part) < 0) return fault();
        }
    }

    void kill_worker(int signal) {
        Worker& victim = pick();
        victim.signal(SIGCONT);
        victim.signal(signal);
        ++done_[signal == SIGKILL ? "killed" : "stopped"];
    }

    /// Beyond its expiry, after which it goes on.
    void suspend_worker() {
        Worker& victim = pick();
        victim.signal(SIGSTOP);
        suspended_.emplace_back(victim.pid(), steady_clock::now() + between(500ms, 4000ms));
        ++asked_.deaths;
        ++done_["suspended"];
    }

    void end_sessions() {
        retrying([this] {
            sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'pawl %' and "
                "random() < 0.2");
        });
        ++done_["sessions ended"];
    }

    /// A backend that is killed makes the server end all others and recover from its log: what was not committed is gone, and what is
    /// unlogged is empty.
    void crash_server() {
        retrying([this] {
            const auto rows = sql("select pid from pg_stat_activity where application_name like 'pawl %' limit 1");
            if (!rows.empty()) ::kill(rows.int32(0, 0), SIGKILL);
        });
        ++done_["server crashed"];
    }

    void act_on_a_job() {
        if (last_.empty()) return;
        const JobId id = last_[static_cast<std::size_t>(number(0, static_cast<int>(last_.size()) - 1))];
        retrying([&] {
            switch (number(0, 3)) {
                case 0:
                    (void)producer_->cancel_job(id);
                    break;
                case 1:
                    if (producer_->pause_job(id)) paused_.push_back(id);
                    break;
                case 2:
                    ++asked_.redriven[id];  // Before: its reply may get lost.
                    if (!producer_->retry_job(id) && --asked_.redriven[id] == 0) asked_.redriven.erase(id);
                    break;
                default:
                    for (const JobId held : std::exchange(paused_, {})) (void)producer_->resume_job(held);
            }
        });
        ++done_["acts"];
    }

    /// Lets suspended workers go on, and replaces those that have ended.
    void bury() {
        std::erase_if(suspended_, [](const auto& one) {
            if (steady_clock::now() < one.second) return false;
            ::kill(one.first, SIGCONT);
            return true;
        });
        for (auto& worker : workers_) {
            const auto ended = worker->ended();
            if (!ended) continue;
            if (*ended == -SIGKILL) ++asked_.deaths;
            worker = std::make_unique<Worker>(new_worker());
        }
    }

    // ---- and afterwards

    /// Nothing is disturbed any more: every job ends, and every worker runs some.
    bool calm_down() {
        for (const auto& [pid, until] : suspended_) ::kill(pid, SIGCONT);
        suspended_.clear();
        for (const JobId held : std::exchange(paused_, {})) retrying([&] { (void)producer_->resume_job(held); });
        const auto until = steady_clock::now() + patience;
        while (!all_ended() || !all_work()) {
            if (steady_clock::now() > until) return false;
            pause(100ms);
        }
        return true;
    }

    bool all_ended() {
        bury();
        std::int64_t left = 1;
        retrying([&] {
            // A reply that was lost may have hidden a pause.
            const auto held = sql("select id from @schema@.parked");
            for (std::size_t row = 0; row < held.size(); ++row) (void)producer_->resume_job(held.int64(row, 0));
            left = sql("select count(*) from @schema@.job j where not exists (select from @schema@.done d where d.id = "
                       "j.id)")
                       .int64(0, 0);
        });
        return left == 0;
    }

    /// Whether each worker has begun one of the jobs that were enqueued after the faults; else enqueues more.
    bool all_work() {
        std::set<pid_t> idle;
        for (const auto& worker : workers_) idle.insert(worker->pid());
        for (const pid_t pid : tests::pids_that_began(ledger_, probes_)) idle.erase(pid);
        if (idle.empty()) return true;
        retrying([this] {
            for (const JobId id : producer_->enqueue_many(std::vector<Work>(50))) {
                probes_.insert(id);
                asked_.committed.insert(id);
            }
        });
        return false;
    }

    // ---- means

    Worker new_worker() { return {dsn_, schema_, {ledger_, std::to_string(wish_.seed)}}; }
    void start_worker() { workers_.push_back(std::make_unique<Worker>(new_worker())); }
    Worker& pick() { return *workers_[static_cast<std::size_t>(number(0, static_cast<int>(workers) - 1))]; }
    int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
    std::chrono::milliseconds between(std::chrono::milliseconds least, std::chrono::milliseconds most) {
        return std::chrono::milliseconds(number(static_cast<int>(least.count()), static_cast<int>(most.count())));
    }
    static void pause(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

    store::pg::Connection& opened() {
        admin_.open();
        return admin_;
    }
    store::pg::Result sql(std::string_view statement, const store::pg::Params& params = {}) {
        return opened().run({"", store::pg::with_schema(statement, schema_)}, params);
    }

    /// Again and again while the server is away.
    template <class F>
    void retrying(F call) {
        for (const auto until = steady_clock::now() + 30s;;) {
            try {
                return call();
            } catch (const StoreError& error) {
                if (steady_clock::now() > until) throw;
            } catch (const pqxx::broken_connection&) {
                if (steady_clock::now() > until) throw;
            } catch (const pqxx::sql_error&) {
                if (steady_clock::now() > until) throw;
            }
            pause(50ms);
        }
    }

    std::string told() const {
        std::string text;
        for (const auto& [what, times] : done_) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", times, what);
        return text;
    }

    const std::string dsn_;
    const Wish wish_;
    std::mt19937_64 random_;
    const std::string schema_;
    const std::string ledger_;
    store::pg::Connection admin_;
    std::unique_ptr<Scheduler> producer_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::pair<pid_t, steady_clock::time_point>> suspended_;
    std::vector<JobId> paused_;
    std::vector<JobId> last_;
    std::map<std::string, int> done_;
    tests::Asked asked_;
    std::set<JobId> probes_;
};

}  // namespace

int main(int argc, char** argv) {
    Wish wish;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--seed") wish.seed = std::strtoull(argv[i + 1], nullptr, 10);
        if (option == "--seconds") wish.seconds = std::chrono::seconds(std::atoi(argv[i + 1]));
        if (option == "--without") wish.without = argv[i + 1];
    }
    if (argc % 2 == 0 || (!wish.without.empty() && !sabotages.contains(wish.without))) {
        std::cerr << "usage: pawl_chaos [--seed N] [--seconds S] [--without rescue|fencing|settling|marks]\n";
        return 2;
    }
    const char* dsn = std::getenv("PAWL_DSN");
    if (dsn == nullptr) {
        std::cerr << "PAWL_DSN names no PostgreSQL: run tests/run chaos\n";
        return 2;
    }
    std::cout << "chaos with seed " << wish.seed << " for " << wish.seconds.count() << " s" << std::endl;
    try {
        return Chaos(dsn, wish).run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << "seed " << wish.seed << ": " << error.what() << '\n';
        return 3;
    }
}
