#include "support/processes.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace pawl::tests {

namespace {

constexpr std::chrono::seconds line_bound{20};

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    // Closed in the other children, or the end of one would not be seen while another lives.
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
    return ends;
}

int said_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

}  // namespace

Worker::Worker(const std::string& dsn, const std::string& schema, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{PAWL_SYSTEM_WORKER, dsn, schema};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    const auto to_child = make_pipe();
    const auto from_child = make_pipe();
    in_ = to_child[1];
    out_ = from_child[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
    const int failed = ::posix_spawn(&pid_, argv.front(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), words.front());
}

Worker::Worker(Worker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      heard_(std::move(other.heard_)) {}

Worker::~Worker() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        wait();
    }
    if (in_ >= 0) ::close(in_);
    if (out_ >= 0) ::close(out_);
}

std::string Worker::line() {
    const auto until = std::chrono::steady_clock::now() + line_bound;
    for (;;) {
        if (const auto end = heard_.find('\n'); end != std::string::npos) {
            std::string line = heard_.substr(0, end);
            heard_.erase(0, end + 1);
            return line;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd readable{.fd = out_, .events = POLLIN, .revents = 0};
        if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) return {};
        std::array<char, 4096> bytes{};
        const ssize_t got = ::read(out_, bytes.data(), bytes.size());
        if (got <= 0) return {};
        heard_.append(bytes.data(), static_cast<std::size_t>(got));
    }
}

bool Worker::says(std::string_view wanted) {
    for (std::string said = line(); !said.empty(); said = line()) {
        if (said == wanted) return true;
    }
    return false;
}

void Worker::let_go() {
    // A child that is gone makes this fail, and then nobody waits for it.
    [[maybe_unused]] const auto written = ::write(in_, "go\n", 3);
}

void Worker::signal(int number) const { ::kill(pid_, number); }

std::optional<int> Worker::ended() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    return said_of(status);
}

int Worker::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return said_of(status);
}

}  // namespace pawl::tests
