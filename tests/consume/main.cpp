// The program that each consumer project builds against pawl as its users get it.

#include <cstdio>

#include <pawl/version.hpp>

int main() {
    const auto version = pawl::version();
    std::printf("consumed pawl %.*s\n", static_cast<int>(version.size()), version.data());
}
