#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace pawl::detail {

template <class Signature>
class Callable;

/// A user's function behind one virtual call: copies share the function object. Stands in for `std::function`, whose
/// header is too heavy for a public one.
template <class Result, class... Arguments>
class Callable<Result(Arguments...)> {
public:
    Callable() noexcept = default;
    Callable(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)

    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, Callable> &&
                 std::is_invocable_r_v<Result, std::decay_t<F>&, Arguments...>)
    Callable(F&& function) {  // NOLINT(google-explicit-constructor, bugprone-forwarding-reference-overload)
        using Function = std::decay_t<F>;
        // An empty std::function or a null function pointer is nothing to call.
        if constexpr (std::is_pointer_v<Function> || requires(const Function& f) { f == nullptr; }) {
            if (function == nullptr) return;
        }
        held_ = std::make_shared<Holder<Function>>(std::forward<F>(function));
    }

    [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }

    Result operator()(Arguments... arguments) const { return held_->call(std::forward<Arguments>(arguments)...); }

private:
    struct Held {
        Held() = default;
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        virtual ~Held() = default;
        virtual Result call(Arguments... arguments) = 0;
    };

    template <class F>
    struct Holder final : Held {
        template <class G>
        explicit Holder(G&& function) : function_(std::forward<G>(function)) {}
        Result call(Arguments... arguments) override {
            if constexpr (std::is_void_v<Result>) {
                static_cast<void>(function_(std::forward<Arguments>(arguments)...));
            } else {
                return function_(std::forward<Arguments>(arguments)...);
            }
        }
        F function_;
    };

    std::shared_ptr<Held> held_;
};

}  // namespace pawl::detail
