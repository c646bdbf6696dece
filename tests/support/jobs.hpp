#pragma once

#include <string>
#include <string_view>

#include <pawl/json.hpp>

namespace pawl::tests {

/// A job of one number.
struct Count {
    static constexpr std::string_view kind = "count";
    int n{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Count, n)
};

/// A job of one text.
struct Note {
    static constexpr std::string_view kind = "note";
    std::string text;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Note, text)
};

/// A job that must not run twice.
struct Charge {
    static constexpr std::string_view kind = "charge";
    int order{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Charge, order)
};

/// A job without members.
struct Nudge {
    static constexpr std::string_view kind = "nudge";
};

}  // namespace pawl::tests
