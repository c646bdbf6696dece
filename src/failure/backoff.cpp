#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <pawl/backoff.hpp>
#include <pawl/errors.hpp>

#include "failure/saturate.hpp"

namespace pawl {
namespace {

using failure::saturating_add;
using failure::saturating_multiply;
using failure::saturating_scale;
using std::chrono::microseconds;

Duration checked(Duration wait, std::string_view field) {
    if (!wait.valid()) throw ConfigError(field, "is not a number");
    if (wait < Duration()) throw ConfigError(field, "is negative; a wait is zero or longer");
    return wait;
}

constexpr microseconds polynomial_rest = std::chrono::seconds(2);

std::int64_t doubled(std::int64_t first, int times) noexcept {
    if (first == 0) return 0;
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    return times >= 63 || first > (largest >> times) ? largest : first << times;
}

std::int64_t fourth_power_seconds(int n) noexcept {
    const std::int64_t square = std::int64_t{n} * n;
    return saturating_multiply(saturating_multiply(square, square), std::int64_t{1'000'000});
}

}  // namespace

Jitter Jitter::up_to(double fraction) {
    if (!(fraction >= 0 && fraction <= 1)) throw ConfigError("jitter", "must be a fraction from 0 to 1");
    return {Law::up_to, 0, fraction};
}

Jitter Jitter::scaled(double low, double high) {
    if (!(low >= 0 && low <= high && high <= 100)) {
        throw ConfigError("jitter", "must be two factors with 0 <= low <= high <= 100");
    }
    return {Law::scaled, low, high};
}

Backoff::Backoff() : Backoff(exponential().capped(std::chrono::minutes(10))) {}

Backoff::Backoff(Law law, std::vector<Duration> waits, Jitter jitter, Function function)
    : law_(law), waits_(std::move(waits)), jitter_(jitter), function_(std::move(function)) {
    for (const Duration wait : waits_) static_cast<void>(checked(wait, "backoff"));
}

Backoff Backoff::none() { return {Law::none, {}, Jitter::none()}; }
Backoff Backoff::fixed(Duration wait) { return {Law::fixed, {wait}, Jitter::none()}; }
Backoff Backoff::exponential(Duration first) { return {Law::exponential, {first}, Jitter::equal()}; }
Backoff Backoff::polynomial() { return {Law::polynomial, {}, Jitter::up_to(0.15)}; }
Backoff Backoff::list(std::vector<Duration> waits) { return {Law::list, std::move(waits), Jitter::none()}; }

Backoff Backoff::custom(Function function) {
    if (!function) throw ConfigError("backoff", "has an empty function");
    return {Law::custom, {}, Jitter::none(), std::move(function)};
}

Backoff Backoff::capped(Duration cap) const {
    Backoff copy = *this;
    copy.cap_ = checked(cap, "backoff.cap");
    return copy;
}

Backoff Backoff::jittered(Jitter jitter) const {
    Backoff copy = *this;
    copy.jitter_ = jitter;
    return copy;
}

microseconds Backoff::unjittered(int n) const {
    switch (law_) {
        case Law::none:
            return {};
        case Law::fixed:
            return waits_.front().microseconds();
        case Law::exponential:
            return microseconds(doubled(waits_.front().count(), n - 1));
        case Law::polynomial:
            return microseconds(fourth_power_seconds(n));
        case Law::list:
            if (waits_.empty()) return {};
            return waits_[std::min(static_cast<std::size_t>(n), waits_.size()) - 1].microseconds();
        case Law::custom:
            return checked(function_(n), "backoff").microseconds();
    }
    return {};
}

Backoff::Draw Backoff::draw(int n, RandomSource& random) const {
    const std::int64_t cap = cap_.count();
    // Jitter acts on what is left of the cap once the fixed part is in, so that a capped delay is still spread.
    const std::int64_t rest = law_ == Law::polynomial ? std::min(polynomial_rest.count(), cap) : 0;
    const std::int64_t base = std::min(unjittered(std::max(n, 1)).count(), cap - rest);
    const std::int64_t plain = base + rest;

    const auto within_cap = [&](std::int64_t least, double spread) {
        const std::int64_t spreading = saturating_add(least, saturating_scale(base, spread * failure::drawn(random)));
        return std::min(saturating_add(spreading, rest), cap);
    };
    const auto law = [&]() -> std::int64_t {
        switch (jitter_.law()) {
            case Jitter::Law::none:
                return plain;
            case Jitter::Law::full:
                return within_cap(0, 1);
            case Jitter::Law::equal:
                return within_cap(base / 2, 0.5);
            case Jitter::Law::up_to:
                return within_cap(base, jitter_.high());
            case Jitter::Law::scaled:
                return saturating_scale(plain,
                                        jitter_.low() + failure::drawn(random) * (jitter_.high() - jitter_.low()));
        }
        return plain;
    };
    const std::int64_t delay = law();
    return {microseconds(delay), microseconds(delay - plain)};
}

}  // namespace pawl
