#include "chaos/checks.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/pg/params.hpp"
#include "store/pg/statement.hpp"

namespace pawl::tests {
namespace {

class Checker {
public:
    Checker(store::pg::Connection& connection, const std::string& schema, const Written& written, const Asked& asked)
        : connection_(connection), schema_(schema), written_(written), asked_(asked) {}

    std::vector<std::string> all() {
        places();
        existence();
        verdicts();
        runs();
        attempts();
        crashes();
        return std::move(broken_);
    }

private:
    store::pg::Result sql(std::string_view statement, const store::pg::Params& params = {}) {
        return connection_.run({"", store::pg::with_schema(statement, schema_)}, params);
    }

    void places() {
        const auto rows = sql("select id, array_to_string(places, ' and ') from @schema@.verify()");
        for (std::size_t row = 0; row < rows.size(); ++row)
            report(rows.int64(row, 0), "stands in: " + rows.optional_string(row, 1).value_or("no place"));
    }

    /// Each committed job is there and has ended; none that was rolled back is.
    void existence() {
        const auto rows =
            sql("select j.id, d.state::text from @schema@.job j left join @schema@.done d on d.id = j.id");
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const JobId id = rows.int64(row, 0);
            stored_.insert(id);
            if (rows.is_null(row, 1)) {
                report(id, "has not ended");
            } else {
                states_[id] = rows.string(row, 1);
            }
            if (asked_.rolled_back.contains(id)) report(id, "was rolled back and is there");
        }
        for (const JobId id : asked_.committed) {
            if (!stored_.contains(id)) report(id, "was committed and is gone");
        }
    }

    /// One verdict, and only what was accepted is told. A killed process may not have told it.
    void verdicts() {
        for (const auto& [id, state] : states_) {
            const int succeeded = count(written_.succeeded, id);
            const int failed = count(written_.failed, id);
            const int again = count(asked_.redriven, id);
            if (succeeded > 1) report(id, fmt::format("succeeded {} times", succeeded));
            if (succeeded > 0 && state != "succeeded") report(id, "was said to have succeeded, and is " + state);
            if (failed > 1 + again) report(id, fmt::format("failed {} times and was put back {} times", failed, again));
            if (failed > 0 && again == 0 && state != "failed") report(id, "was said to have failed, and is " + state);
        }
    }

    /// A claim runs a job once; one that succeeded has a run that returned.
    void runs() {
        std::set<JobId> returned;
        for (const auto& [run, times] : written_.begun) {
            if (times > 1) report(run.first, fmt::format("was begun {} times under token {}", times, run.second));
        }
        for (const auto& [run, times] : written_.returned) {
            returned.insert(run.first);
            if (times > 1) report(run.first, fmt::format("returned {} times under token {}", times, run.second));
        }
        for (const auto& [id, state] : states_) {
            if (state == "succeeded" && !returned.contains(id)) report(id, "succeeded without a run that returned");
        }
    }

    /// Attempts are counted exactly, and a claim is counted once.
    void attempts() {
        const auto counted = sql(R"(
select d.id, d.attempts, count(a.*) filter (where a.counted and not a.redriven)
from @schema@.done d
left join @schema@.attempt a on a.id = d.id
group by d.id, d.attempts
having d.attempts <> count(a.*) filter (where a.counted and not a.redriven))");
        for (std::size_t row = 0; row < counted.size(); ++row)
            report(counted.int64(row, 0),
                   fmt::format("says {} attempts and has {}", counted.int64(row, 1), counted.int64(row, 2)));
        const auto twice = sql("select id, token from @schema@.attempt group by id, token having count(*) > 1");
        for (std::size_t row = 0; row < twice.size(); ++row)
            report(twice.int64(row, 0), fmt::format("has two outcomes under token {}", twice.int64(row, 1)));
        const auto accepted = sql("select id, token from @schema@.attempt");
        for (std::size_t row = 0; row < accepted.size(); ++row) {
            const auto run = std::pair(accepted.int64(row, 0), accepted.int64(row, 1));
            if (written_.stale.contains(run))
                report(run.first, fmt::format("was accepted and told as stale under token {}", run.second));
        }
    }

    void crashes() {
        const auto charged =
            sql("select count(*) from @schema@.attempt where type = 'pawl::WorkerLost' and decision <> 'release'")
                .int64(0, 0);
        if (charged > asked_.deaths)
            broken_.push_back(fmt::format("{} crashes charged for {} deaths", charged, asked_.deaths));
    }

    template <class Map>
    static int count(const Map& map, JobId id) {
        const auto found = map.find(id);
        return found == map.end() ? 0 : found->second;
    }

    void report(JobId id, const std::string& what) {
        if (broken_.size() > most_told) return;
        std::string text = fmt::format("job {} {}", id, what);
        const auto rows = sql(
            "select concat_ws(' ', attempt, token, node, decision, reason, type, finished_at) from @schema@.attempt "
            "where id = $1 order by finished_at",
            store::pg::Params{}.add(id));
        for (std::size_t row = 0; row < rows.size(); ++row) text += "\n    run " + rows.string(row, 0);
        for (const auto& [run, times] : written_.begun) {
            if (run.first == id) text += fmt::format("\n    begun under token {}", run.second);
        }
        for (const auto& [run, times] : written_.stale) {
            if (run.first == id) text += fmt::format("\n    stale under token {}", run.second);
        }
        broken_.push_back(std::move(text));
    }

    static constexpr std::size_t most_told = 20;

    store::pg::Connection& connection_;
    const std::string& schema_;
    const Written& written_;
    const Asked& asked_;
    std::set<JobId> stored_;
    std::map<JobId, std::string> states_;
    std::vector<std::string> broken_;
};

}  // namespace

Written read_ledger(const std::string& path) {
    Written written;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string what;
        JobId id = 0;
        ClaimToken token = 0;
        words >> what >> id >> token;
        if (what == "begun") ++written.begun[{id, token}];
        if (what == "returned") ++written.returned[{id, token}];
        if (what == "stale") ++written.stale[{id, token}];
        if (what == "succeeded") ++written.succeeded[id];
        if (what == "failed") ++written.failed[id];
    }
    return written;
}

std::set<pid_t> pids_that_began(const std::string& path, const std::set<JobId>& jobs) {
    std::set<pid_t> pids;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string what;
        JobId id = 0;
        ClaimToken token = 0;
        pid_t pid = 0;
        words >> what >> id >> token >> pid;
        if (what == "begun" && jobs.contains(id)) pids.insert(pid);
    }
    return pids;
}

std::vector<std::string> broken_invariants(store::pg::Connection& connection, const std::string& schema,
                                           const Written& written, const Asked& asked) {
    return Checker(connection, schema, written, asked).all();
}

}  // namespace pawl::tests
