#include "runtime/process_identity.hpp"

#include <array>
#include <fstream>
#include <random>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>

namespace pawl::runtime {
namespace {

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// In clock ticks since boot: field 22 of stat, counted after the command, which may hold spaces and brackets.
std::string process_start() {
    const std::string stat = first_line("/proc/self/stat");
    const auto end_of_command = stat.rfind(')');
    if (end_of_command == std::string::npos) return {};
    std::istringstream fields(stat.substr(end_of_command + 1));
    std::string field;
    for (int number = 3; number <= 22; ++number) fields >> field;
    return fields ? field : std::string{};
}

}  // namespace

ProcessIdentity process_identity() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    std::random_device random;
    ProcessIdentity process{.name = {},
                            .host = host.data(),
                            .boot = first_line("/proc/sys/kernel/random/boot_id"),
                            .pid = getpid(),
                            .start = process_start()};
    process.name = fmt::format("{}:{}:{:08x}", process.host, process.pid, static_cast<std::uint32_t>(random()));
    return process;
}

}  // namespace pawl::runtime
