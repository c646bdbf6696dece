#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <pawl/export.hpp>

namespace pawl {

/// How values of `T` are stored: as JSON text, written by `encode` and read by `decode`.
///
/// `<pawl/json.hpp>` defines it for everything that has nlohmann_json functions. A type without members needs nothing.
/// `PAWL_JOB` keeps that header out of the ones that declare jobs, and a specialization puts another JSON library in its
/// place:
///
///     template <> struct pawl::Codec<Invoice> {
///         static std::string encode(const Invoice& invoice);
///         static Invoice decode(std::string_view text);
///     };
///
/// What `encode` gives is checked before it is stored: JSON, in valid UTF-8, without NUL and without repeated keys. Both
/// may throw anything; an error of `decode` becomes a `PayloadError` of the job.
///
/// **Threads**: called concurrently from worker threads and from whoever enqueues.
template <class T>
struct Codec;

namespace detail {

/// Keeps alive what a decoded value may point into.
using Document = std::shared_ptr<const void>;

template <class T>
inline constexpr bool is_tuple = false;
template <class... Parts>
inline constexpr bool is_tuple<std::tuple<Parts...>> = true;

template <class T>
concept Encodable = requires(const T& value) {
    { Codec<T>::encode(value) } -> std::convertible_to<std::string>;
};

template <class T>
concept Decodable = requires(std::string_view text) {
    { Codec<T>::decode(text) } -> std::convertible_to<T>;
};

template <class T>
T decode(std::string_view text, Document& document) {
    if constexpr (requires { Codec<T>::decode(text, document); }) {
        return Codec<T>::decode(text, document);
    } else {
        return Codec<T>::decode(text);
    }
}

}  // namespace detail

/// A type without members has nothing to store. What is stored may have members all the same, when the type had them
/// once: they are passed over.
template <class T>
    requires(std::is_empty_v<T>&& std::default_initializable<T> && !detail::is_tuple<T>)
struct Codec<T> {
    static std::string encode(const T&) { return "{}"; }
    static T decode(std::string_view) { return T{}; }
};

template <>
struct Codec<std::tuple<>> {
    static std::string encode(const std::tuple<>&) { return "[]"; }
    static std::tuple<> decode(std::string_view) { return {}; }
};

}  // namespace pawl

/// Declares, in the header of a job type and outside of every namespace, that its codec is in a source file.
///
///     PAWL_JOB(billing::ChargeCard);         // charge_card.hpp, with <pawl/codec.hpp>
///     PAWL_JOB_JSON(billing::ChargeCard);    // charge_card.cpp, with <pawl/json.hpp>
#define PAWL_JOB(Type)                                                               \
    template <>                                                                      \
    struct pawl::Codec<Type> {                                                       \
        static std::string encode(const Type& value);                                \
        static Type decode(std::string_view text);                                   \
        static Type decode(std::string_view text, pawl::detail::Document& document); \
    }
