#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pawl/export.hpp>

namespace pawl {

/// What is known about whether trying again can help.
enum class ErrorClass : unsigned char { unknown, transient, permanent };

[[nodiscard]] PAWL_EXPORT std::string_view to_string(ErrorClass error_class) noexcept;

/// A sanitized error: the only form in which an error is stored, logged, or handed to listeners.
///
/// All text is valid UTF-8 without control characters, with secrets replaced and lengths bounded.
struct ErrorRecord {
    struct Cause {
        std::string type;
        std::string message;
        friend bool operator==(const Cause&, const Cause&) = default;
    };

    /// The concrete C++ type that was thrown, demangled.
    std::string type;
    std::string message;
    /// From the outermost cause to the innermost that is kept.
    std::vector<Cause> causes;
    ErrorClass error_class{ErrorClass::unknown};
    /// True when causes were left out.
    bool truncated{};

    friend bool operator==(const ErrorRecord&, const ErrorRecord&) = default;
};

}  // namespace pawl
