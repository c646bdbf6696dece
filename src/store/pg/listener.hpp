#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "store/pg/connection.hpp"

namespace pawl::store::pg {

struct Notification {
    std::string channel;
    std::string payload;
};

/// A connection that does nothing but listen: libpqxx hands out no notification while a transaction object exists.
///
/// Like every connection of ours it does not reconnect: after an error `open()` begins anew and listens to the same
/// channels. What was sent in between is lost, so whoever waits must look at the tables once after `open()`.
///
/// **Throws** `StoreError`, transient, when the connection is lost.
/// **Threads**: confined to one thread, but for `interrupt()`.
class Listener {
public:
    explicit Listener(std::string_view conninfo, SessionOptions options = {});
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();

    /// Connects and listens to all channels asked for so far; does nothing when open.
    void open();
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept;

    /// At once when open, else with `open()`. The same channel twice is one.
    ///
    /// **Throws** `ConfigError` for a name over 63 bytes, which PostgreSQL would cut.
    void listen(std::string_view channel);

    /// What has arrived, in order, or what arrives first within the time; empty when the time is over, on `interrupt()`
    /// and when stop is requested. Wakes at least every 20 s of silence to ask the server for a sign of life, because
    /// a connection whose other end has vanished is otherwise never found out.
    [[nodiscard]] std::vector<Notification> wait(std::chrono::milliseconds timeout, const std::stop_token& stop = {});

    /// Ends the present `wait()`, or the next one. Safe from any thread.
    void interrupt() noexcept;

    [[nodiscard]] int backend_pid() const { return connection_.backend_pid(); }

private:
    class Bell;
    struct Channels;

    void collect();
    void ping();
    [[nodiscard]] std::vector<Notification> taken();

    Connection connection_;
    std::unique_ptr<Bell> bell_;
    std::vector<Notification> arrived_;
    std::unique_ptr<Channels> channels_;  // ends before the connection and what has arrived: it writes to both
    std::chrono::steady_clock::time_point last_sign_;
};

}  // namespace pawl::store::pg
