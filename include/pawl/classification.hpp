#pragma once

#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <pawl/detail/callable.hpp>
#include <pawl/detail/type_match.hpp>
#include <pawl/error_record.hpp>
#include <pawl/export.hpp>

namespace pawl {

/// What becomes of permanent errors that no rule names: of marked types, and of those whose class is permanent.
enum class PermanentErrors : unsigned char {
    dead_letter,
    failed_only,  ///< failed and discarded: in no dead letters, counts or alerts
};

/// What a scheduler knows about types of errors and error codes, on top of the built-in lists.
///
/// Types match by `catch`, the last registered first, before any built-in knowledge; a code predicate speaks before the
/// built-in codes, the last registered first.
///
/// Built in as transient: `TransientError`, `TimedOut`, and the codes of connections and resources that come back. Built
/// in as permanent: `PermanentError`, `std::invalid_argument`, `std::domain_error`, `std::length_error`,
/// `std::out_of_range`, `std::bad_variant_access`, `std::bad_optional_access`, `std::bad_function_call`, and the codes
/// `permission_denied` and `operation_not_permitted`. A code speaks before the type that carries it.
///
/// **Threads**: a value; const members are safe concurrently, if the predicates are.
class PAWL_EXPORT Classification {
public:
    /// An opinion about a code, or none.
    using CodePredicate = detail::Callable<std::optional<ErrorClass>(const std::error_code&)>;

    struct Registered {
        detail::TypeMatch type;
        ErrorClass error_class;
    };

    template <class... E>
    Classification& classify_as_permanent() {
        (types_.push_back({detail::type_match<E>(), ErrorClass::permanent}), ...);
        return *this;
    }
    template <class... E>
    Classification& classify_as_transient() {
        (types_.push_back({detail::type_match<E>(), ErrorClass::transient}), ...);
        return *this;
    }
    /// A job that ends with one of these, as the error itself and not as a cause, goes back uncounted, and the pool stops.
    template <class... E>
    Classification& classify_as_fatal() {
        (fatal_.push_back(detail::type_match<E>()), ...);
        return *this;
    }
    /// **Throws** `ConfigError` for an empty predicate.
    Classification& classify_codes(CodePredicate predicate);
    /// Takes these as the permanent types in place of the built-in list of standard ones; none empties it.
    template <class... E>
    Classification& replace_permanent_types() {
        permanent_ = std::vector<detail::TypeMatch>{detail::type_match<E>()...};
        return *this;
    }

    [[nodiscard]] const std::vector<Registered>& types() const noexcept { return types_; }
    [[nodiscard]] const std::vector<CodePredicate>& codes() const noexcept { return codes_; }
    [[nodiscard]] const std::vector<detail::TypeMatch>& fatal() const noexcept { return fatal_; }
    /// None: the built-in list.
    [[nodiscard]] const std::optional<std::vector<detail::TypeMatch>>& permanent() const noexcept { return permanent_; }

private:
    std::vector<Registered> types_;
    std::vector<CodePredicate> codes_;
    std::vector<detail::TypeMatch> fatal_;
    std::optional<std::vector<detail::TypeMatch>> permanent_;
};

}  // namespace pawl
