#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include <pawl/handler.hpp>

namespace pawl::worker {

/// What is known about a kind in this scheduler.
struct Entry {
    std::shared_ptr<const detail::Invoker> invoker;
    int payload_version{};
    /// The type that its jobs are decoded to.
    const std::type_info* type{};
    HandlerSettings settings;
};

/// The kinds that this scheduler has handlers for.
///
/// **Threads**: confined to one thread until it is sealed; const members are safe concurrently from then on, without a
/// lock, because nothing changes any more.
/// **Lifetime**: entries stay where they are.
class Registry {
public:
    Registry() = default;
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry() = default;

    /// **Throws** `ConfigError` when sealed, for a name that cannot be stored, and for a kind that has an entry.
    Entry& add(std::string_view kind, Entry entry);

    void seal() noexcept { sealed_.store(true, std::memory_order_release); }
    /// After a start that failed.
    void unseal() noexcept { sealed_.store(false, std::memory_order_release); }
    [[nodiscard]] const std::atomic<bool>& sealed() const noexcept { return sealed_; }

    /// Null when there is no handler for it here.
    [[nodiscard]] const Entry* find(std::string_view kind) const noexcept;

    /// By kind, in ascending order.
    [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const noexcept { return entries_; }

private:
    std::map<std::string, Entry, std::less<>> entries_;
    std::atomic<bool> sealed_{false};
};

}  // namespace pawl::worker
