#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include <pawl/events.hpp>
#include <pawl/export.hpp>

namespace pawl {

namespace detail {

/// A callback behind its type: what the event thread calls.
class PAWL_EXPORT Listener {
public:
    Listener() = default;
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    virtual ~Listener();

    virtual void hear(const Event& event) = 0;
};

template <AnEvent E, class Callback>
class TypedListener final : public Listener {
public:
    template <class From>
    explicit TypedListener(std::in_place_t, From&& callback) : callback_(std::forward<From>(callback)) {}

    void hear(const Event& event) override { callback_(std::get<E>(event)); }

private:
    Callback callback_;
};

template <AnEvent E, class Callback>
[[nodiscard]] std::unique_ptr<Listener> make_listener(Callback&& callback) {
    using Kept = std::decay_t<Callback>;
    static_assert(std::is_invocable_v<Kept&, const E&>, "a listener is called with a const reference to its event");
    return std::make_unique<TypedListener<E, Kept>>(std::in_place, std::forward<Callback>(callback));
}

class SubscriptionState;

}  // namespace detail

/// Keeps a listener listening; ends with this object.
///
/// Once ended, the callback does not run and will not run, and what it captured is destroyed. Ending waits for a call that
/// is under way, so never do it while holding what the callback waits for. Ended from inside its own callback it
/// does not wait: this call is the last one.
///
/// **Threads**: confined to one thread; it may be another one than the one that subscribed.
/// **Lifetime**: may outlive its scheduler. The callback is called on the scheduler's event thread.
class PAWL_EXPORT Subscription {
public:
    /// Listens to nothing.
    Subscription() noexcept;
    explicit Subscription(std::shared_ptr<detail::SubscriptionState> state) noexcept;
    Subscription(Subscription&&) noexcept;
    Subscription& operator=(Subscription&&) noexcept;
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription();

    /// Ends it now; a second time does nothing.
    void end() noexcept;

private:
    std::shared_ptr<detail::SubscriptionState> state_;
};

}  // namespace pawl
