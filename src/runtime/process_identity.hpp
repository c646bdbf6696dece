#pragma once

#include <cstdint>
#include <string>

namespace pawl::runtime {

/// What tells this process from every other one: pids are used again, and hosts start again.
struct ProcessIdentity {
    /// host:pid:random, for people.
    std::string name;
    std::string host;
    std::string boot;
    std::int64_t pid{};
    std::string start;
};

/// Fields that the system does not tell are empty.
[[nodiscard]] ProcessIdentity process_identity();

}  // namespace pawl::runtime
