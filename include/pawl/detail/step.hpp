#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pawl/codec.hpp>
#include <pawl/control.hpp>
#include <pawl/export.hpp>
#include <pawl/fwd.hpp>

namespace pawl::detail {

template <class F>
using StepValue = std::remove_cvref_t<std::invoke_result_t<F&>>;

/// What is said about a step in doubt: what it came to, or that it was not done.
template <class F>
using StepAnswer = std::conditional_t<std::is_void_v<StepValue<F>>, bool, std::optional<StepValue<F>>>;

/// One step of a run, from the look at what earlier runs have left of it to its end.
///
/// **Threads**: confined to one thread.
class PAWL_EXPORT OpenStep {
public:
    /// Begins the step, unless an earlier run has begun it. Null: on a connection of the scheduler's.
    OpenStep(const JobRun& run, std::string_view name, pqxx::dbtransaction* transaction);
    OpenStep(const OpenStep&) = delete;
    OpenStep& operator=(const OpenStep&) = delete;
    ~OpenStep() = default;

    /// None: it is done, or ours to do.
    [[nodiscard]] const StepInDoubt* doubt() const noexcept { return doubt_ ? &*doubt_ : nullptr; }
    /// Takes a step in doubt over.
    void begin_anew();

    template <class F>
    StepValue<F> run(F& function) {
        using Value = StepValue<F>;
        if constexpr (std::is_void_v<Value>) {
            if (!done_) {
                called(function);
                finish(std::nullopt);
            }
        } else {
            static_assert(
                Encodable<Value> && Decodable<Value>,
                "pawl: a step of once() returns nothing, or a value with a pawl::Codec that encodes and decodes");
            if (done_) {
                Document document;
                return detail::decode<Value>(result_, document);
            }
            Value value = called(function);
            finish(Codec<Value>::encode(value));
            return value;
        }
    }

    /// Finishes a step in doubt as done.
    template <class F>
    StepValue<F> recovered(StepAnswer<F>& answer) {
        begin_anew();
        if constexpr (std::is_void_v<StepValue<F>>) {
            finish(std::nullopt);
        } else {
            finish(Codec<StepValue<F>>::encode(*answer));
            return std::move(*answer);
        }
    }

private:
    template <class F>
    StepValue<F> called(F& function) {
        try {
            return function();
        } catch (...) {
            undo();
            throw;
        }
    }

    void finish(std::optional<std::string> result);
    /// In a catch block: what threw was not done.
    void undo() noexcept;

    const JobRun& run_;
    std::string name_;
    pqxx::dbtransaction* transaction_;
    bool done_{};
    std::string result_;
    std::optional<StepInDoubt> doubt_;
};

}  // namespace pawl::detail
