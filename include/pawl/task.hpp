#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <pawl/codec.hpp>
#include <pawl/fwd.hpp>

namespace pawl {

namespace detail {

struct TaskTag {};

template <class T>
concept AnyTask = std::is_base_of_v<TaskTag, T>;

/// What a parameter is stored as.
template <class Parameter>
using Stored = std::conditional_t<std::is_same_v<std::remove_cvref_t<Parameter>, std::string_view>, std::string,
                                  std::remove_cvref_t<Parameter>>;

template <class Parameter>
inline constexpr bool is_context = std::is_same_v<Parameter, JobContext&>;

template <class Parameter>
constexpr bool check_parameter() {
    using Bare = std::remove_cvref_t<Parameter>;
    static_assert(!std::is_same_v<Bare, JobContext>,
                  "pawl: a task takes the context as pawl::JobContext&, as its last parameter");
    static_assert(!std::is_pointer_v<Bare>, "pawl: a task cannot take a pointer: what it points to is not stored");
    static_assert(!std::is_reference_v<Parameter> ||
                      (std::is_lvalue_reference_v<Parameter> && std::is_const_v<std::remove_reference_t<Parameter>>),
                  "pawl: a task cannot take a T& or T&&: its arguments are stored, so take T or const T&");
    return true;
}

/// A task's kind and the parameters that are stored.
template <class... Parameters>
class TaskOf : public TaskTag {
public:
    using Arguments = std::tuple<Stored<Parameters>...>;

    [[nodiscard]] constexpr std::string_view kind() const noexcept { return kind_; }
    [[nodiscard]] constexpr int payload_version() const noexcept { return payload_version_; }

protected:
    constexpr TaskOf(std::string_view kind, int payload_version) noexcept
        : kind_(kind), payload_version_(payload_version) {
        static_assert((check_parameter<Parameters>() && ...));
    }

private:
    std::string_view kind_;
    int payload_version_;
};

template <class... Done>
struct StoredParameters {
    using Task = TaskOf<Done...>;
};

/// Splits the context, when it is last, off the parameters.
template <class Done, class... Rest>
struct SplitParameters;
template <class... Done>
struct SplitParameters<StoredParameters<Done...>> {
    using Task = TaskOf<Done...>;
    static constexpr bool context = false;
};
template <class... Done>
struct SplitParameters<StoredParameters<Done...>, JobContext&> {
    using Task = TaskOf<Done...>;
    static constexpr bool context = true;
};
template <class... Done, class Next, class... Rest>
struct SplitParameters<StoredParameters<Done...>, Next, Rest...>
    : SplitParameters<StoredParameters<Done..., Next>, Rest...> {};

}  // namespace detail

/// A free function as a kind of job, with a stored name.
///
///     inline constexpr pawl::Task resize_image{"media.resize", &media::resize};
///     scheduler.on(resize_image);
///     scheduler.enqueue(resize_image, path, 640, 480).submit();
///
/// Parameters are values, `const T&` or `std::string_view` (stored as text), and last, if wanted, `JobContext&`. They are
/// stored as a JSON array and checked against the signature by the compiler. Default arguments do not carry over. An
/// overloaded function is named by its signature: `pawl::Task<void(int)>`. What the function returns is treated as with
/// every handler.
///
/// **Threads**: a value; const members are safe concurrently. The function is called concurrently from worker threads.
/// **Lifetime**: the name is not copied; it should be a literal.
template <class Signature>
class Task;

template <class Return, class... Parameters>
class Task<Return(Parameters...)> : public detail::SplitParameters<detail::StoredParameters<>, Parameters...>::Task {
    using Split = detail::SplitParameters<detail::StoredParameters<>, Parameters...>;

public:
    using Function = Return (*)(Parameters...);
    using typename Split::Task::Arguments;

    /// A node whose task has a lower `payload_version` than a job does not run it.
    constexpr Task(std::string_view kind, Function function, int payload_version = 0) noexcept
        : Split::Task(kind, payload_version), function_(function) {}

    Return operator()(Arguments&& arguments, JobContext& context) const {
        return call(std::move(arguments), context, std::make_index_sequence<std::tuple_size_v<Arguments>>{});
    }

private:
    // The cast makes an rvalue of what a parameter takes by value, and leaves to `const T&` and views what stays stored.
    template <std::size_t... I>
    Return call(Arguments&& arguments, [[maybe_unused]] JobContext& context, std::index_sequence<I...>) const {
        if constexpr (Split::context) {
            return function_(std::get<I>(std::move(arguments))..., context);
        } else {
            return function_(std::get<I>(std::move(arguments))...);
        }
    }

    Function function_;
};

template <class Return, class... Parameters>
Task(std::string_view, Return (*)(Parameters...)) -> Task<Return(Parameters...)>;
template <class Return, class... Parameters>
Task(std::string_view, Return (*)(Parameters...), int) -> Task<Return(Parameters...)>;
template <class Return, class... Parameters>
Task(std::string_view, Return (*)(Parameters...) noexcept) -> Task<Return(Parameters...)>;
template <class Return, class... Parameters>
Task(std::string_view, Return (*)(Parameters...) noexcept, int) -> Task<Return(Parameters...)>;

}  // namespace pawl
