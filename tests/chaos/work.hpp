#pragma once

#include <cstdint>
#include <string_view>

#include <pawl/json.hpp>

namespace pawl::tests {

/// A job whose runs succeed, fail, hold or kill their process, by the seed.
struct Work {
    static constexpr std::string_view kind = "chaos.work";
    std::int64_t n{};
    bool kills{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Work, n, kills)
};

}  // namespace pawl::tests
