#pragma once

#include <cstddef>
#include <exception>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include <pawl/export.hpp>

namespace pawl {

/// Marks an exception type whose errors no retry can heal: a dead letter at once, its attempt not counted, wherever in the
/// chain of causes it stands. The mark is for exactly this type and is not inherited; what `std::throw_with_nested` makes
/// of an E counts as an E.
///
/// Specialize it next to the type, which works for types of others as well:
///
///     template <> struct pawl::DoNotRetry<CardDeclined>
///         : pawl::permanent<CardDeclined, "declined by the issuer"> {};
///
/// or write the same as `PAWL_DO_NOT_RETRY(CardDeclined, "declined by the issuer");` at namespace scope, outside any
/// namespace. Private types befriend `pawl::DoNotRetry<E>`; for types local to a function there is
/// `Classification::classify_as_permanent`. A partial specialization marks an instantiation only where that is explicitly
/// instantiated.
///
/// Marks are known before `main` and, in a shared library, from its loading to its unloading (which needs a shared pawl).
template <class E>
struct DoNotRetry {
    static constexpr bool marked = false;
};

namespace detail {

/// A text as a template argument.
template <std::size_t N>
struct FixedText {
    consteval FixedText(const char (&text)[N]) noexcept {  // NOLINT(google-explicit-constructor)
        for (std::size_t i = 0; i < N; ++i) bytes[i] = text[i];
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes, N - 1}; }
    char bytes[N]{};
};

/// An entry of the process-wide list of marks, which it joins and leaves with its own life.
class PAWL_EXPORT Mark {
public:
    Mark(const std::type_info& type, const std::type_info* nested, std::string_view reason) noexcept;
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    ~Mark();

    [[nodiscard]] bool marks(const std::type_info& type) const noexcept {
        return type == *type_ || (nested_ != nullptr && type == *nested_);
    }
    [[nodiscard]] std::string_view reason() const noexcept { return reason_; }

private:
    friend class MarkList;
    const std::type_info* type_;
    const std::type_info* nested_;
    std::string_view reason_;
    Mark* next_ = nullptr;
    Mark* previous_ = nullptr;
};

/// What `std::throw_with_nested` makes of an E; null where it throws an E as it is.
template <class E>
[[nodiscard]] const std::type_info* nested_type() noexcept {
    if constexpr (std::is_class_v<E> && !std::is_final_v<E> && !std::is_base_of_v<std::nested_exception, E>) {
#if defined(__GLIBCXX__)
        return &typeid(std::_Nested_exception<E>);
#elif defined(_LIBCPP_VERSION)
        return &typeid(std::__nested<E>);
#else
        return nullptr;
#endif
    } else {
        return nullptr;
    }
}

/// Naming the mark as the argument of a complete class has it instantiated, and so registered, without being used.
template <const Mark& mark>
struct Registered {};

/// The marks of each shared library are its own, so that unloading it takes them away.
template <class E, FixedText reason>
struct MarkOf {
#if defined(__GNUC__)
    [[gnu::visibility("hidden")]]
#endif
    inline static const Mark mark{typeid(E), nested_type<E>(), reason.view()};
};

}  // namespace detail

/// What a specialization of DoNotRetry derives from. The reason is shown with the dead letter.
template <class E, detail::FixedText text>
struct permanent {
    static_assert(std::is_same_v<E, std::remove_cvref_t<E>>,
                  "mark the type itself, without const, volatile or reference");
    static_assert(sizeof(detail::Registered<detail::MarkOf<E, text>::mark>) > 0);
    static_assert(!text.view().empty(), "say why it must not be retried: the text is shown with the dead letter");

    static constexpr bool marked = true;
    static constexpr std::string_view reason = text.view();
};

}  // namespace pawl

/// Marks a type as not to be retried, as DoNotRetry describes. For types with a comma in their name use an alias.
#define PAWL_DO_NOT_RETRY(Type, reason) \
    template <>                         \
    struct pawl::DoNotRetry<Type> : pawl::permanent<Type, reason> {}
