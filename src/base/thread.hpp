#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace pawl::base {

/// A named thread of the library that can be waited for with a bound.
///
/// Destroyed while it runs, it waits for ever, like std::jthread, but never for itself. The body must not throw.
///
/// **Threads**: confined to one thread at a time.
/// **Lifetime**: once abandoned, a body may run on after everything else is gone: it owns what it touches.
class Thread {
public:
    using Body = std::function<void()>;

    Thread() noexcept = default;
    /// The name is what debuggers and `top` show, cut to what the system allows (15 bytes on Linux).
    /// **Throws** std::system_error when there is no thread to be had.
    Thread(std::string name, Body body);
    Thread(Thread&&) noexcept = default;
    /// Ends the present one as the destructor does.
    Thread& operator=(Thread&& other) noexcept;
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    ~Thread();

    [[nodiscard]] bool joinable() const noexcept { return thread_.joinable(); }
    [[nodiscard]] bool is_current() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }

    /// Waits until the body has returned; a thread never waits for itself.
    void join();

    /// Joins a body that returns in time; false when it did not, or when called from the thread itself.
    [[nodiscard]] bool join_until(std::chrono::steady_clock::time_point until);

    /// Lets the thread go: nobody waits for it any more. The only place of the library where a thread is detached, for
    /// user code that does not come back.
    void abandon() noexcept;

private:
    struct Ended;

    void end() noexcept;

    std::shared_ptr<Ended> ended_;
    std::thread thread_;
};

}  // namespace pawl::base
