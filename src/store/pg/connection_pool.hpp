#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "store/pg/connection.hpp"

namespace pawl::store::pg {

/// A few connections for callers that bring none. They open when first needed and stay; a broken one is not used again.
///
/// **Threads**: safe from any thread.
/// **Lifetime**: outlives what was borrowed from it.
class ConnectionPool {
public:
    /// A connection for as long as this lives. A call whose connection was lost gives the place back empty.
    class Borrowed {
    public:
        Borrowed(Borrowed&& other) noexcept = default;
        Borrowed& operator=(Borrowed&&) = delete;
        ~Borrowed();

        Connection& operator*() const noexcept { return *connection_; }
        Connection* operator->() const noexcept { return connection_.get(); }

    private:
        friend class ConnectionPool;
        Borrowed(ConnectionPool& pool, std::unique_ptr<Connection> connection) noexcept
            : pool_{&pool}, connection_{std::move(connection)} {}

        ConnectionPool* pool_;
        std::unique_ptr<Connection> connection_;  // none once moved from
    };

    /// Does not connect. `size` is how many connections there are at most, above zero.
    explicit ConnectionPool(std::string conninfo, SessionOptions options = {}, std::size_t size = 4);
    ConnectionPool(const ConnectionPool&) = delete;
    ConnectionPool& operator=(const ConnectionPool&) = delete;
    ~ConnectionPool();

    /// An open connection. One that rested and was ended by the server meanwhile is opened anew: nothing was sent on it.
    ///
    /// **Throws** `StoreError` with code `store_unavailable` when none is free in time or the database cannot be
    /// reached.
    [[nodiscard]] Borrowed borrow(std::chrono::milliseconds patience = std::chrono::seconds{10});

    /// Ends the connections at rest. Those in use are not touched, and the pool goes on.
    void close();

private:
    std::unique_ptr<Connection> take(std::chrono::milliseconds patience) PAWL_EXCLUDES(mutex_);
    void give_back(std::unique_ptr<Connection> connection) noexcept PAWL_EXCLUDES(mutex_);

    const std::string conninfo_;
    const SessionOptions options_;
    const std::size_t size_;

    base::Mutex mutex_;
    base::CondVar returned_;
    std::vector<std::unique_ptr<Connection>> resting_ PAWL_GUARDED_BY(mutex_);
    std::size_t lent_ PAWL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pawl::store::pg
