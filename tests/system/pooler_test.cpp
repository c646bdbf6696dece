#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>
#include <pawl/events.hpp>
#include <pawl/job_context.hpp>

#include "support/heard.hpp"
#include "support/system.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace {

using namespace std::chrono_literals;
using namespace pawl;
using tests::Count;
using tests::Heard;
namespace fs = std::filesystem;

std::optional<std::string> pgbouncer() {
    for (const char* path : {"/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"}) {
        if (::access(path, X_OK) == 0) return path;
    }
    return std::nullopt;
}

/// A PgBouncer in transaction mode before the test's server, with two server connections for all.
class Pooler {
public:
    Pooler(const std::string& program, const std::string& dsn) {
        std::string pattern = (fs::temp_directory_path() / "pawl-pooler-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
        directory_ = pattern;
        fs::permissions(directory_, fs::perms::all);
        std::ofstream config(directory_ / "pgbouncer.ini");
        config << "[databases]\n* = " << target(dsn)
               << "\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = " << directory_.string()
               << "\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 100\n";
        config.close();
        // It refuses to run as root, and the private server lets only its own user reach its socket.
        std::vector<std::string> words{program, "-q", (directory_ / "pgbouncer.ini").string()};
        if (::geteuid() == 0) words.insert(words.begin() + 1, {"-u", "postgres"});
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        if (::posix_spawn(&pid_, argv.front(), nullptr, nullptr, argv.data(), environ) != 0)
            throw std::runtime_error("posix_spawn");
    }
    Pooler(const Pooler&) = delete;
    Pooler& operator=(const Pooler&) = delete;
    ~Pooler() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        std::error_code ignored;
        fs::remove_all(directory_, ignored);
    }

    [[nodiscard]] std::string dsn(const std::string& server) const {
        return fmt::format("host={} port=6432 user={} dbname={}", directory_.string(),
                           value(server, "user", "postgres"), value(server, "dbname", "postgres"));
    }

private:
    static std::string value(const std::string& dsn, const std::string& key, const std::string& otherwise) {
        std::istringstream words(dsn);
        for (std::string word; words >> word;) {
            if (word.starts_with(key + '=')) return word.substr(key.size() + 1);
        }
        return otherwise;
    }
    static std::string target(const std::string& dsn) {
        return fmt::format("host={} port={} dbname={} user={}", value(dsn, "host", "/var/run/postgresql"),
                           value(dsn, "port", "5432"), value(dsn, "dbname", "postgres"),
                           value(dsn, "user", "postgres"));
    }

    fs::path directory_;
    pid_t pid_ = -1;
};

class BehindAPooler : public tests::SystemTest {
protected:
    void SetUp() override {
        SystemTest::SetUp();
        const auto program = pgbouncer();
        if (!program) GTEST_SKIP() << "there is no pgbouncer";
        if (dsn().find("://") != std::string::npos) GTEST_SKIP() << "PAWL_DSN is a URI";
        pooler_.emplace(*program, dsn());
    }
    [[nodiscard]] Options pooled() {
        Options pooled = options();
        pooled.connection = pooler_->dsn(dsn());
        pooled.listen = false;
        pooled.behind_pooler = true;
        pooled.poll_floor = 50ms;
        pooled.heartbeat = 200ms;
        return pooled;
    }
    /// The pooler takes a moment until it listens.
    [[nodiscard]] bool answers() {
        return tests::eventually([this] {
            Options look = pooled();
            look.queues.clear();
            try {
                (void)Scheduler(look).counts();
                return true;
            } catch (const StoreError&) {
                std::this_thread::yield();
                return false;
            }
        });
    }

private:
    std::optional<Pooler> pooler_;
};

TEST_F(BehindAPooler, jobs_run_fail_retry_and_are_canceled_as_without_one) {
    ASSERT_TRUE(answers());
    Scheduler first(pooled());
    Scheduler second(pooled());
    std::atomic<int> runs{0};
    for (Scheduler* scheduler : {&first, &second}) {
        scheduler->on<Count>([&](const Count& job, JobContext& context) {
            ++runs;
            if (job.n % 10 == 0 && context.attempt() == 1) throw TransientError("once");
            if (job.n % 50 == 7) throw PermanentError("never");
        });
        scheduler->start();
    }
    std::vector<Count> jobs;
    for (int n = 0; n < 500; ++n) jobs.push_back({n});
    (void)first.enqueue_many(jobs);
    const JobId later = second.enqueue(Count{1}).with_delay(1h).submit().id();
    EXPECT_TRUE(second.cancel_job(later));
    EXPECT_TRUE(tests::eventually([&] { return number("select count(*) from @schema@.done") == 501; }));
    EXPECT_EQ(runs, 550);
    EXPECT_EQ(number("select count(*) from @schema@.done where state = 'succeeded'"), 490);
    EXPECT_EQ(number("select count(*) from @schema@.done where state = 'failed'"), 10);
    EXPECT_TRUE(first.health().ready);
    EXPECT_TRUE(first.stop().clean());
    EXPECT_TRUE(second.stop().clean());
    EXPECT_EQ(number("select count(*) from @schema@.claim"), 0);
}

TEST_F(BehindAPooler, a_session_is_left_as_it_was_found) {
    ASSERT_TRUE(answers());
    Scheduler scheduler(pooled());
    scheduler.on<Count>([](const Count&) {});
    scheduler.start();
    const JobId id = scheduler.enqueue(Count{1}).submit().id();
    EXPECT_TRUE(reaches(scheduler, id, State::succeeded));
    Options plain = pooled();
    store::pg::Connection other(plain.connection, {.prepare = false, .application_name = "pawl test"});
    other.open();
    EXPECT_EQ(other.run({"", "select count(*) from pg_prepared_statements"}).int64(0, 0), 0);
}

}  // namespace
