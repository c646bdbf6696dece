#include "base/system_sources.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>

namespace pawl::base {

namespace {

class SystemClock final : public Clock {
public:
    [[nodiscard]] Time now() const override {
        return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    }
};

/// SplitMix64: its state is a counter, so that threads share it without a lock.
///
/// **Source**: Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators" (2014).
class SystemRandom final : public RandomSource {
public:
    SystemRandom() {
        std::random_device device;
        state_ = (std::uint64_t{device()} << 32U) | device();
    }

    double uniform() override {
        std::uint64_t mixed = state_.fetch_add(0x9E3779B97F4A7C15U, std::memory_order_relaxed);
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        mixed ^= mixed >> 31U;
        return static_cast<double>(mixed >> 11U) * 0x1.0p-53;
    }

private:
    std::atomic<std::uint64_t> state_;
};

}  // namespace

std::shared_ptr<const Clock> system_clock() { return std::make_shared<const SystemClock>(); }

std::shared_ptr<RandomSource> system_random() { return std::make_shared<SystemRandom>(); }

}  // namespace pawl::base
