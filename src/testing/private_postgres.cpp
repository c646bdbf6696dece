#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libpq-fe.h>

#include <pawl/errors.hpp>
#include <pawl/testing/private_postgres.hpp>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace pawl::testing {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A socket's path is limited to 107 bytes, so TMPDIR, which may be long, is not followed. The owner's process id is
// part of the name: a server that is being initialised has no postmaster.pid yet.
constexpr std::string_view directory_prefix = "/tmp/pawlpg-";

bool has_programs(const fs::path& directory) {
    return ::access((directory / "initdb").c_str(), X_OK) == 0 && ::access((directory / "postgres").c_str(), X_OK) == 0;
}

std::optional<fs::path> from_path() {
    const char* path = std::getenv("PATH");
    std::istringstream directories{path != nullptr ? path : ""};
    for (std::string directory; std::getline(directories, directory, ':');) {
        const auto program = fs::path{directory} / "initdb";
        if (directory.empty() || ::access(program.c_str(), X_OK) != 0) continue;
        std::error_code error;
        const auto real = fs::canonical(program, error);
        if (!error && has_programs(real.parent_path())) return real.parent_path();
    }
    return std::nullopt;
}

/// The highest of the versions that lie side by side: `/usr/lib/postgresql/<version>/bin`.
std::optional<fs::path> highest_version(const fs::path& parent, std::string_view prefix, std::string_view below) {
    std::optional<std::pair<double, fs::path>> best;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{parent, error}) {
        const auto name = entry.path().filename().string();
        if (!name.starts_with(prefix)) continue;
        const double version = std::strtod(name.c_str() + prefix.size(), nullptr);
        const auto directory = entry.path() / below;
        if (has_programs(directory) && (!best || version > best->first)) best = {version, directory};
    }
    if (!best) return std::nullopt;
    return best->second;
}

std::optional<fs::path> from_pg_config() {
    std::unique_ptr<FILE, int (*)(FILE*)> answer{::popen("pg_config --bindir 2>/dev/null", "r"), &::pclose};
    char line[1024];
    if (!answer || std::fgets(line, sizeof line, answer.get()) == nullptr) return std::nullopt;
    std::string directory{line};
    while (!directory.empty() && directory.back() == '\n') directory.pop_back();
    // It may be that of a version of which only the client is installed.
    if (!has_programs(directory)) return std::nullopt;
    return fs::path{directory};
}

fs::path bin_directory() {
    if (const char* given = std::getenv("PAWL_PG_BIN"); given != nullptr && *given != '\0') {
        if (!has_programs(given)) throw ConfigError("PAWL_PG_BIN", "names a folder without initdb and postgres");
        return given;
    }
    if (auto found = from_path()) return *found;
    if (auto found = from_pg_config()) return *found;
    const std::pair<const char*, const char*> versioned[] = {
        {"/usr/lib/postgresql", ""},           // Debian, Ubuntu
        {"/usr", "pgsql-"},                    // the project's own RPM packages
        {"/usr/libexec", "postgresql"},        // Alpine
        {"/opt/homebrew/opt", "postgresql@"},  // Homebrew
        {"/usr/local/opt", "postgresql@"},
    };
    for (const auto& [parent, prefix] : versioned) {
        const bool flat = std::string_view{parent} == "/usr/libexec";
        if (auto found = highest_version(parent, prefix, flat ? "" : "bin")) return *found;
    }
    for (const char* plain :
         {"/usr/bin", "/usr/local/bin", "/Applications/Postgres.app/Contents/Versions/latest/bin"}) {
        if (has_programs(plain)) return plain;
    }
    throw ConfigError("PostgreSQL",
                      "no initdb and postgres found: install the server (Debian, Ubuntu: apt install postgresql; "
                      "Fedora: dnf install postgresql-server; macOS: brew install postgresql), or name the folder of "
                      "its programs in PAWL_PG_BIN, or an existing server in PAWL_DSN");
}

/// Whom the server runs as: it refuses to run as root.
struct Account {
    uid_t user{};
    gid_t group{};
    std::vector<gid_t> groups{};
};

std::optional<Account> account_instead_of_root() {
    if (::geteuid() != 0) return std::nullopt;
    const passwd* entry = ::getpwnam("postgres");
    if (entry == nullptr) entry = ::getpwnam("nobody");
    if (entry == nullptr) throw ConfigError("PostgreSQL", "refuses to run as root, and there is no user postgres");
    return Account{.user = entry->pw_uid, .group = entry->pw_gid, .groups = {entry->pw_gid}};
}

/// Starts a program with its output in a file. It does not outlive this process where the system can see to it.
pid_t spawn(const std::vector<std::string>& words, const fs::path& log, const std::optional<Account>& account) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const pid_t parent = ::getpid();

    const pid_t child = ::fork();
    if (child == 0) {
        // Other threads may hold any lock, so only system calls are made from here on.
        ::setsid();  // keeps a Ctrl-C away from the server until its user has ended
        if (account && (::setgroups(account->groups.size(), account->groups.data()) != 0 ||
                        ::setgid(account->group) != 0 || ::setuid(account->user) != 0)) {
            ::_exit(126);
        }
#if defined(__linux__)
        ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after the change of user, which clears it
#endif
        if (::getppid() != parent) ::_exit(126);
        // What the program that uses us had blocked or ignored is none of the server's business.
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::dup2(input, STDIN_FILENO);
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        if (::chdir("/") != 0) ::_exit(126);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(input);
    ::close(output);
    if (child < 0) {
        throw StoreError(ErrorCode::store_unavailable, "cannot start " + words[0] + ": " + std::strerror(errno));
    }
    return child;
}

[[noreturn]] void did_not_start(std::string_view what, const fs::path& log) {
    std::ifstream file{log};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    constexpr std::size_t shown = 2000;
    if (text.size() > shown) text.erase(0, text.size() - shown);
    throw StoreError(ErrorCode::store_unavailable, std::string{what} + ": " + text);
}

bool alive(std::string_view process_id) {
    pid_t id = 0;
    const auto [end, error] = std::from_chars(process_id.data(), process_id.data() + process_id.size(), id);
    if (error != std::errc{} || id <= 0) return false;
    return ::kill(id, 0) == 0 || errno == EPERM;
}

/// Removes what servers left behind whose program was killed.
void sweep() {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{"/tmp", error}) {
        const auto path = entry.path().string();
        if (!path.starts_with(directory_prefix)) continue;
        struct stat facts {};
        if (::stat(path.c_str(), &facts) != 0 || (::geteuid() != 0 && facts.st_uid != ::geteuid())) continue;

        const auto owner =
            path.substr(directory_prefix.size(), path.find('-', directory_prefix.size()) - directory_prefix.size());
        if (owner.empty() || owner.find_first_not_of("0123456789") != std::string::npos || alive(owner)) continue;
        std::string server;
        std::ifstream pid_file{entry.path() / "data" / "postmaster.pid"};
        if (std::getline(pid_file, server) && alive(server)) continue;
        std::error_code ignored;
        fs::remove_all(entry.path(), ignored);
    }
}

std::string unique_schema() {
    std::random_device source;
    std::uniform_int_distribution<std::uint64_t> any;
    char digits[17];
    const auto end = std::to_chars(digits, digits + sizeof digits, any(source), 16).ptr;
    return "pawl_test_" + std::string{digits, end};
}

/// Runs one statement on a connection of its own.
void run_on(const std::string& dsn, const std::string& sql) {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> connection{PQconnectdb(dsn.c_str()), &PQfinish};
    if (PQstatus(connection.get()) != CONNECTION_OK) {
        throw StoreError(ErrorCode::store_unavailable,
                         std::string{"cannot connect to the test server: "} + PQerrorMessage(connection.get()),
                         {.transient = true, .sqlstate = {}});
    }
    PQsetNoticeProcessor(
        connection.get(), [](void*, const char*) {}, nullptr);
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result{PQexec(connection.get(), sql.c_str()), &PQclear};
    if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
        throw StoreError(ErrorCode::store_rejected, PQerrorMessage(connection.get()));
    }
}

/// A process of a server and the directory that it lives in.
class Server {
public:
    Server() : account_(account_instead_of_root()) {
        const auto programs = bin_directory();
        sweep();
        auto name = std::string{directory_prefix} + std::to_string(::getpid()) + "-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) {
            throw StoreError(ErrorCode::store_unavailable, std::string{"cannot create "} + name);
        }
        directory_ = name;
        try {
            start(programs);
        } catch (...) {
            stop();
            throw;
        }
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() { stop(); }

    [[nodiscard]] std::string dsn() const {
        return "host=" + directory_.string() + " port=5432 user=postgres dbname=postgres";
    }

private:
    void start(const fs::path& programs) {
        const auto data = (directory_ / "data").string();
        if (account_ && ::chown(directory_.c_str(), account_->user, account_->group) != 0) {
            throw StoreError(ErrorCode::store_unavailable, "cannot give " + directory_.string() + " away");
        }
        const auto initdb_log = directory_ / "initdb.log";
        const auto initdb = spawn({programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8",
                                   "--locale=C", "--no-instructions", "--wal-segsize=1"},
                                  initdb_log, account_);
        int status = 0;
        while (::waitpid(initdb, &status, 0) < 0 && errno == EINTR) {
        }
        if (status != 0) did_not_start("initdb failed", initdb_log);

        const auto log = directory_ / "server.log";
        process_ = spawn({programs / "postgres",
                          "-D",
                          data,
                          "-p",
                          "5432",
                          "-c",
                          "listen_addresses=",
                          "-c",
                          "unix_socket_directories=" + directory_.string(),
                          "-c",
                          "fsync=off",
                          "-c",
                          "synchronous_commit=off",
                          "-c",
                          "full_page_writes=off",
                          "-c",
                          "max_connections=200",
                          "-c",
                          "shared_buffers=64MB",
                          "-c",
                          "timezone=UTC"},
                         log, account_);
        wait_until_ready(data, log);
    }

    void wait_until_ready(const fs::path& data, const fs::path& log) {
        const auto until = Clock::now() + std::chrono::seconds{30};
        for (;;) {
            std::ifstream file{data / "postmaster.pid"};
            for (std::string line; std::getline(file, line);) {
                if (line.starts_with("ready")) return;
            }
            int status = 0;
            if (::waitpid(process_, &status, WNOHANG) == process_) {
                process_ = 0;
                did_not_start("postgres ended", log);
            }
            if (Clock::now() > until) did_not_start("postgres was not ready in 30 s", log);
            // The file is all that the server says; there is nothing to wait for.
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
    }

    void stop() noexcept {
        if (process_ > 0) {
            // Immediate: nothing of it is needed again.
            ::kill(process_, SIGQUIT);
            while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
            }
            process_ = 0;
        }
        std::error_code ignored;
        fs::remove_all(directory_, ignored);
    }

    std::optional<Account> account_;
    fs::path directory_;
    pid_t process_ = 0;
};

}  // namespace

struct PrivatePostgres::Impl {
    Impl() : server(std::make_unique<Server>()), dsn(server->dsn()), schema("pawl") {}
    explicit Impl(std::string_view given) : dsn(given), schema(unique_schema()) {
        run_on(dsn, "create schema " + schema);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (server) return;
        try {
            run_on(dsn, "drop schema if exists " + schema + " cascade");
        } catch (const std::exception&) {
            // The server is gone or refuses: the schema stays there, and a destructor cannot say so.
        }
    }

    std::unique_ptr<Server> server;
    std::string dsn;
    std::string schema;
};

PrivatePostgres::PrivatePostgres(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

PrivatePostgres::PrivatePostgres() {
    const char* given = std::getenv("PAWL_DSN");
    impl_ = given != nullptr && *given != '\0' ? std::make_unique<Impl>(given) : std::make_unique<Impl>();
}

PrivatePostgres PrivatePostgres::start() { return PrivatePostgres{std::make_unique<Impl>()}; }

PrivatePostgres PrivatePostgres::schema_on(std::string_view dsn) {
    return PrivatePostgres{std::make_unique<Impl>(dsn)};
}

PrivatePostgres::PrivatePostgres(PrivatePostgres&&) noexcept = default;
PrivatePostgres& PrivatePostgres::operator=(PrivatePostgres&&) noexcept = default;
PrivatePostgres::~PrivatePostgres() = default;

const std::string& PrivatePostgres::dsn() const noexcept { return impl_->dsn; }
const std::string& PrivatePostgres::schema() const noexcept { return impl_->schema; }

}  // namespace pawl::testing
