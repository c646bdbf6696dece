#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <pawl/clock.hpp>
#include <pawl/detail/callable.hpp>
#include <pawl/export.hpp>
#include <pawl/fwd.hpp>

namespace pawl {

/// The type of `polynomially_longer`.
struct PolynomiallyLonger {
    explicit PolynomiallyLonger() = default;
};
/// n⁴ + 2 seconds, with jitter on n⁴: about 3 s, 18 s, 83 s, 258 s, …
inline constexpr PolynomiallyLonger polynomially_longer{};

/// How long a retry rule waits: a duration, `polynomially_longer`, or a callable of n or of (n, failure) that returns a
/// duration, n being the rule's own count of failures. What a callable returns gets no jitter.
class Wait {
public:
    enum class Law : unsigned char { fixed, polynomial, callable };
    using Function = detail::Callable<Duration(int, const Failure&)>;

    template <class Rep, class Period>
    Wait(std::chrono::duration<Rep, Period> wait) : duration_(wait) {}  // NOLINT(google-explicit-constructor)
    Wait(Duration wait) : duration_(wait) {}                            // NOLINT(google-explicit-constructor)
    Wait(PolynomiallyLonger /*law*/) : law_(Law::polynomial) {}         // NOLINT(google-explicit-constructor)
    template <class F>
        requires(std::is_invocable_r_v<Duration, std::decay_t<F>&, int> ||
                 std::is_invocable_r_v<Duration, std::decay_t<F>&, int, const Failure&>)
    Wait(F&& function)  // NOLINT(google-explicit-constructor, bugprone-forwarding-reference-overload)
        : law_(Law::callable), function_(taking_both(std::forward<F>(function))) {}

    [[nodiscard]] Law law() const noexcept { return law_; }
    [[nodiscard]] Duration duration() const noexcept { return duration_; }
    [[nodiscard]] const Function& function() const noexcept { return function_; }

private:
    template <class F>
    static Function taking_both(F&& function) {
        using Given = std::decay_t<F>;
        if constexpr (std::is_invocable_r_v<Duration, Given&, int, const Failure&>) {
            return Function(std::forward<F>(function));
        } else {
            // Through the holder first, so that a null function stays recognisable as one.
            detail::Callable<Duration(int)> of_count(std::forward<F>(function));
            if (!of_count) return {};
            return [of_count](int n, const Failure&) { return of_count(n); };
        }
    }

    Law law_ = Law::fixed;
    Duration duration_;
    Function function_;
};

}  // namespace pawl
