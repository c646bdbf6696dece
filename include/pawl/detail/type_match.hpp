#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <typeinfo>

namespace pawl::detail {

/// The thrown object as `catch (const E&)` would see it, or null. Follows the language's own rules: public and
/// unambiguous bases, whether or not the type is polymorphic, and things that are no exceptions at all.
///
/// **Lifetime**: the pointer lives as long as `error` does.
template <class E>
[[nodiscard]] const E* caught(const std::exception_ptr& error) noexcept {
    static_assert(std::is_same_v<E, std::remove_cvref_t<E>>,
                  "name the type itself, without const, volatile or reference");
    static_assert(!std::is_void_v<E> && !std::is_array_v<E> && !std::is_function_v<E>,
                  "no exception can be of this type");
    if (!error) return nullptr;
    try {
        std::rethrow_exception(error);
    } catch (const E& found) {
        return std::addressof(found);
    } catch (...) {
        return nullptr;
    }
}

/// One type that errors are held against.
struct TypeMatch {
    bool (*catches)(const std::exception_ptr&) noexcept;
    const std::type_info* type;
};

template <class E>
[[nodiscard]] TypeMatch type_match() noexcept {
    return {[](const std::exception_ptr& error) noexcept { return caught<E>(error) != nullptr; }, &typeid(E)};
}

}  // namespace pawl::detail
