#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <pawl/codec.hpp>
#include <pawl/control.hpp>
#include <pawl/export.hpp>
#include <pawl/fwd.hpp>

namespace pawl::detail {

/// The handler is done with the job.
struct HandlerDone {
    /// JSON text; none when the handler returns nothing. A marker stands here when the result could not be encoded.
    std::optional<std::string> result;
    /// Why the result could not be encoded; empty when it was.
    std::string result_lost;
};

using HandlerReply = std::variant<HandlerDone, Snooze, Cancel>;

/// One decoded job, to be run once.
class PAWL_EXPORT Invocation {
public:
    Invocation() = default;
    Invocation(const Invocation&) = delete;
    Invocation& operator=(const Invocation&) = delete;
    virtual ~Invocation();

    virtual HandlerReply run(JobContext& context) = 0;
};

/// A handler behind its type: from stored text to a run.
///
/// **Threads**: called concurrently from worker threads.
class PAWL_EXPORT Invoker {
public:
    Invoker() = default;
    Invoker(const Invoker&) = delete;
    Invoker& operator=(const Invoker&) = delete;
    virtual ~Invoker();

    /// **Throws** `PayloadError`, with what the codec threw as its cause.
    /// **Lifetime**: the text must outlive the invocation.
    [[nodiscard]] virtual std::unique_ptr<Invocation> decode(std::string_view payload) const = 0;
};

/// Throws a `PayloadError` that nests the exception being handled; to be called in a catch block.
[[noreturn]] PAWL_EXPORT void throw_payload_error();

/// The reply of a handler with a result: JSON text, which is checked.
PAWL_EXPORT HandlerReply result_encoded(std::string result);

/// The reply of a handler whose result cannot be stored; to be called in a catch block.
PAWL_EXPORT HandlerReply result_not_encodable();

template <class R>
inline constexpr bool is_reply = false;
template <class R>
inline constexpr bool is_reply<std::variant<R, Snooze, Cancel>> = true;

template <class R>
HandlerReply encode_result(const R& result) {
    static_assert(!std::is_pointer_v<R>, "pawl: a handler cannot return a pointer: its result is stored as JSON");
    static_assert(std::is_pointer_v<R> || Encodable<R>,
                  "pawl: a handler returns void, pawl::Snooze, pawl::Cancel, pawl::Reply<T>, or a value that has a "
                  "pawl::Codec (include <pawl/json.hpp> for types with nlohmann_json functions)");
    // The work is done: a result that cannot be encoded must not have it done again.
    try {
        return result_encoded(Codec<R>::encode(result));
    } catch (...) {
        return result_not_encodable();
    }
}

template <class R>
HandlerReply to_reply(R&& returned) {
    using Value = std::remove_cvref_t<R>;
    if constexpr (std::same_as<Value, Snooze> || std::same_as<Value, Cancel>) {
        return HandlerReply(std::forward<R>(returned));
    } else if constexpr (std::same_as<Value, std::monostate>) {
        return HandlerDone{};
    } else if constexpr (is_reply<Value>) {
        return std::visit([](auto&& said) { return to_reply(std::forward<decltype(said)>(said)); },
                          std::forward<R>(returned));
    } else {
        return encode_result<Value>(returned);
    }
}

template <class F, class T>
inline constexpr bool takes_context = std::is_invocable_v<const F&, T, JobContext&>;
template <class F, class T>
inline constexpr bool is_handler = takes_context<F, T> || std::is_invocable_v<const F&, T>;

template <class T, class F>
class TypedInvocation final : public Invocation {
public:
    TypedInvocation(const F& function, std::string_view payload)
        : function_(function), job_(detail::decode<T>(payload, document_)) {}

    HandlerReply run(JobContext& context) override {
        if constexpr (takes_context<F, T>) {
            return call(context);
        } else {
            return call();
        }
    }

private:
    template <class... Context>
    HandlerReply call(Context&... context) {
        if constexpr (std::is_void_v<std::invoke_result_t<const F&, T, Context&...>>) {
            function_(std::move(job_), context...);
            return HandlerDone{};
        } else {
            return to_reply(function_(std::move(job_), context...));
        }
    }

    const F& function_;
    Document document_;
    T job_;
};

template <class T, class F>
class TypedInvoker final : public Invoker {
public:
    explicit TypedInvoker(F function) : function_(std::move(function)) {}

    [[nodiscard]] std::unique_ptr<Invocation> decode(std::string_view payload) const override {
        try {
            return std::make_unique<TypedInvocation<T, F>>(function_, payload);
        } catch (...) {
            throw_payload_error();
        }
    }

private:
    F function_;
};

template <class T, class F>
std::unique_ptr<Invoker> make_invoker(F&& function) {
    using Function = std::decay_t<F>;
    static_assert(is_handler<Function, T>,
                  "pawl: a handler takes the job as const T& or T, and may take a pawl::JobContext& after it; it is "
                  "called as const, because worker threads call it at the same time");
    static_assert(
        Decodable<T>,
        "pawl: this job type has no pawl::Codec: include <pawl/json.hpp> and give it nlohmann_json functions, or "
        "declare PAWL_JOB(Type)");
    return std::make_unique<TypedInvoker<T, Function>>(std::forward<F>(function));
}

/// A member function with the object it is called on.
template <class Object, class Method>
struct MemberHandler {
    Object* object;
    Method method;

    template <class... Arguments>
        requires std::is_invocable_v<Method, Object&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) const {
        return (object->*method)(std::forward<Arguments>(arguments)...);
    }
};

}  // namespace pawl::detail
