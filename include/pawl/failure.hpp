#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <pawl/clock.hpp>
#include <pawl/detail/type_match.hpp>
#include <pawl/error_record.hpp>
#include <pawl/export.hpp>
#include <pawl/fwd.hpp>
#include <pawl/job.hpp>

namespace pawl {

namespace detail {
struct CapturedFailure;
}
namespace failure {
struct Link;
std::vector<Link>::const_iterator first_link(const Failure& failure) noexcept;
std::vector<Link>::const_iterator last_link(const Failure& failure) noexcept;
}  // namespace failure

/// What went wrong in one attempt of a job, with the live exception: what rules, policies, strategies and discard
/// callbacks look at.
///
/// It stands for the error that was thrown, or for one of its causes (see `cause`). Texts are as they were thrown, and may
/// hold secrets: log or keep an `ErrorRecord` instead, which went through the sanitizer.
///
/// **Threads**: a value whose copies share what was captured; const members are safe concurrently. It is handed to user
/// code on the worker thread that ran the job, and the exception in it should stay there.
class PAWL_EXPORT Failure {
public:
    /// For the library: see failure/capture. There is always something captured in it.
    explicit Failure(std::shared_ptr<const detail::CapturedFailure> captured, std::size_t first = 0) noexcept;

    [[nodiscard]] JobId job_id() const noexcept;
    [[nodiscard]] std::string_view kind() const noexcept;
    [[nodiscard]] std::string_view queue() const noexcept;
    /// The job's payload as JSON text.
    [[nodiscard]] std::string_view payload() const noexcept;
    /// Which run failed: 1 is the first.
    [[nodiscard]] int attempt() const noexcept;
    /// By the host's clock. None when the handler never began.
    [[nodiscard]] std::optional<Time> started_at() const noexcept;
    [[nodiscard]] Time failed_at() const noexcept;

    /// The concrete type that was thrown, demangled. What `std::throw_with_nested` made of E is named E.
    [[nodiscard]] std::string_view type() const noexcept;
    /// What it said about itself; empty for types that say nothing.
    [[nodiscard]] std::string_view message() const noexcept;
    /// What it carries, where it is a `std::system_error`, a `std::future_error`, or an error code itself.
    [[nodiscard]] std::optional<std::error_code> error_code() const noexcept;
    /// The class of the error, or of its first cause that has one.
    [[nodiscard]] ErrorClass error_class() const noexcept;

    /// How many causes follow it, at most 31.
    [[nodiscard]] std::size_t causes() const noexcept;
    /// The same failure seen from one of its causes, which are counted from 0, outermost first. With an index beyond the
    /// last it is the last one.
    [[nodiscard]] Failure cause(std::size_t index) const noexcept;
    /// True when the chain was longer than what is kept, or ran in a circle.
    [[nodiscard]] bool truncated() const noexcept;

    /// Whether `catch (const E&)` would catch it. False where there is no live exception.
    template <class E>
    [[nodiscard]] bool is() const noexcept {
        return as<E>() != nullptr;
    }
    /// The live exception as an E, or null.
    ///
    /// **Lifetime**: as long as this failure or a copy of it.
    template <class E>
    [[nodiscard]] const E* as() const noexcept {
        return detail::caught<E>(exception());
    }
    /// Whether it or one of its causes is an E.
    template <class E>
    [[nodiscard]] bool involves() const noexcept {
        return any(detail::type_match<E>());
    }

    /// The live exception; null where there is none, as for a lost worker.
    [[nodiscard]] const std::exception_ptr& exception() const noexcept;

private:
    friend std::vector<failure::Link>::const_iterator failure::first_link(const Failure& failure) noexcept;
    friend std::vector<failure::Link>::const_iterator failure::last_link(const Failure& failure) noexcept;
    [[nodiscard]] bool any(const detail::TypeMatch& match) const noexcept;

    std::shared_ptr<const detail::CapturedFailure> captured_;
    std::size_t first_;
};

}  // namespace pawl
