#include "store/pg/connection_pool.hpp"

#include <algorithm>
#include <utility>

#include <pawl/errors.hpp>

namespace pawl::store::pg {

ConnectionPool::Borrowed::~Borrowed() {
    if (connection_) pool_->give_back(std::move(connection_));
}

ConnectionPool::ConnectionPool(std::string conninfo, SessionOptions options, std::size_t size)
    : conninfo_(std::move(conninfo)), options_(std::move(options)), size_(std::max<std::size_t>(size, 1)) {
    // So that a connection string that cannot be parsed is refused here, and giving back never allocates.
    static_cast<void>(Conninfo{conninfo_});
    base::MutexLock lock{mutex_};
    resting_.reserve(size_);
}

ConnectionPool::~ConnectionPool() = default;

ConnectionPool::Borrowed ConnectionPool::borrow(std::chrono::milliseconds patience) {
    Borrowed borrowed{*this, take(patience)};
    if (borrowed->stale()) borrowed->close();
    borrowed->open();
    return borrowed;
}

std::unique_ptr<Connection> ConnectionPool::take(std::chrono::milliseconds patience) {
    const auto until = base::CondVar::Clock::now() + patience;
    base::MutexLock lock{mutex_};
    while (lent_ >= size_) {
        if (!returned_.wait_until(mutex_, until) && lent_ >= size_) {
            throw StoreError(ErrorCode::store_unavailable,
                             "all " + std::to_string(size_) + " connections for enqueueing were in use for " +
                                 std::to_string(patience.count()) +
                                 " ms; the database is slow, or too many threads enqueue at once",
                             {.transient = true, .sqlstate = {}});
        }
    }
    if (!resting_.empty()) {
        // The one used last: the others may rest for long and are found stale when needed.
        auto connection = std::move(resting_.back());
        resting_.pop_back();
        ++lent_;
        return connection;
    }
    auto connection = std::make_unique<Connection>(conninfo_, options_);
    ++lent_;
    return connection;
}

void ConnectionPool::give_back(std::unique_ptr<Connection> connection) noexcept {
    // A broken connection is destroyed by the caller's frame, after the lock.
    const bool usable = connection->is_open();
    base::MutexLock lock{mutex_};
    --lent_;
    if (usable) resting_.push_back(std::move(connection));
    returned_.notify_one();
}

void ConnectionPool::close() {
    std::vector<std::unique_ptr<Connection>> ended;
    ended.reserve(size_);
    base::MutexLock lock{mutex_};
    ended.swap(resting_);
    // Ending a session talks to the server, so it is done without the lock.
    lock.unlock();
    ended.clear();
}

}  // namespace pawl::store::pg
