#include "store/pg/listener.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pawl/errors.hpp>

#include "store/pg/compat.hpp"
#include "store/pg/errors.hpp"
#include "store/pg/session.hpp"

namespace pawl::store::pg {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_silence{20};

/// For poll(): whole milliseconds, rounded up, since zero would not wait at all.
int poll_timeout(Clock::duration left) {
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::clamp<std::int64_t>(whole, 0, 60'000));
}

}  // namespace

/// An eventfd: rung from any thread, waited for together with the socket.
class Listener::Bell {
public:
    Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;
    ~Bell() { ::close(fd_); }

    [[nodiscard]] int fd() const noexcept { return fd_; }

    void ring() noexcept {
        const std::uint64_t one = 1;
        // It fails only when the counter is full, and then the bell is ringing.
        [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
    }

    /// Whether it rang since the last time.
    bool silence() noexcept {
        std::uint64_t count = 0;
        return ::read(fd_, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
    }

private:
    int fd_;
};

struct Listener::Channels {
    std::vector<std::string> names{};
    std::vector<std::unique_ptr<compat::Subscription>> subscriptions{};
};

Listener::Listener(std::string_view conninfo, SessionOptions options)
    : connection_(conninfo, std::move(options)),
      bell_(std::make_unique<Bell>()),
      channels_(std::make_unique<Channels>()) {}

Listener::~Listener() = default;

void Listener::open() {
    if (is_open()) return;
    close();
    connection_.open();
    last_sign_ = Clock::now();
    auto names = std::exchange(channels_->names, {});
    try {
        for (const auto& name : names) listen(name);
    } catch (...) {
        channels_->names = std::move(names);
        close();
        throw;
    }
}

void Listener::close() noexcept {
    channels_->subscriptions.clear();
    arrived_.clear();
    connection_.close();
}

bool Listener::is_open() const noexcept { return connection_.is_open(); }

void Listener::listen(std::string_view channel) {
    constexpr std::size_t longest_identifier = 63;
    if (channel.empty() || channel.size() > longest_identifier || channel.find('\0') != std::string_view::npos) {
        throw ConfigError("channel", "is empty, longer than the 63 bytes that PostgreSQL keeps, or holds a NUL byte");
    }
    std::string name{channel};
    if (std::ranges::find(channels_->names, name) != channels_->names.end()) return;
    if (is_open()) {
        try {
            channels_->subscriptions.push_back(
                compat::listen(*connection_.session().handle, name, [this, name](const std::string& payload) {
                    arrived_.push_back({name, payload});
                }));
        } catch (...) {
            const auto error = classify(Sent::no, "listen");
            if (session_ended(error)) close();
            throw error;
        }
    }
    channels_->names.push_back(std::move(name));
}

std::vector<Notification> Listener::wait(std::chrono::milliseconds timeout, const std::stop_token& stop) {
    const std::stop_callback on_stop{stop, [this] { interrupt(); }};
    const auto now = Clock::now();
    const auto until = timeout > Clock::time_point::max() - now ? Clock::time_point::max() : now + timeout;
    for (;;) {
        // Before waiting: libpq may hold notifications that came with an earlier answer, and the socket is then silent.
        collect();
        if (bell_->silence() || !arrived_.empty() || stop.stop_requested()) return taken();

        const auto at = Clock::now();
        if (at >= until) return taken();
        if (at >= last_sign_ + longest_silence) {
            ping();
            continue;
        }
        std::array<pollfd, 2> sources{{
            {.fd = connection_.socket(), .events = POLLIN, .revents = 0},
            {.fd = bell_->fd(), .events = POLLIN, .revents = 0},
        }};
        // A signal ends it early, which is a look more.
        ::poll(sources.data(), sources.size(), poll_timeout(std::min(until, last_sign_ + longest_silence) - at));
        if (sources[0].revents != 0) last_sign_ = Clock::now();
    }
}

void Listener::interrupt() noexcept { bell_->ring(); }

void Listener::collect() {
    try {
        connection_.session().handle->get_notifs();
    } catch (...) {
        const auto error = classify(Sent::no, "wait for notifications");
        close();
        throw error;
    }
    // The end of the session may have been read without an error, as the server's farewell.
    if (!is_open()) {
        close();
        throw StoreError(ErrorCode::store_unavailable, "the server ended the connection that listens",
                         {.transient = true, .sqlstate = {}});
    }
}

void Listener::ping() {
    try {
        // Not by the connection's own run(): on an error that ends the session, to which the subscriptions still point.
        pqxx::nontransaction work{*connection_.session().handle};
        compat::run(work, "select 1", {});
    } catch (...) {
        const auto error = classify(Sent::no, "the connection that listens is lost");
        close();
        throw error;
    }
    last_sign_ = Clock::now();
}

std::vector<Notification> Listener::taken() { return std::exchange(arrived_, {}); }

}  // namespace pawl::store::pg
