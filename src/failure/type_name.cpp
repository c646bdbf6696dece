#include "failure/type_name.hpp"

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>

namespace pawl::failure {
namespace {

std::string demangled(const std::type_info& type) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && name != nullptr ? name.get() : type.name();
}

// What the standard libraries derive from a type and std::nested_exception, to throw both as one.
constexpr std::array<std::string_view, 3> nesting_types{"std::_Nested_exception<", "std::__nested<",
                                                        "std::__1::__nested<"};

}  // namespace

std::string type_name(const std::type_info& type) {
    std::string name = demangled(type);
    for (const std::string_view nesting : nesting_types) {
        if (!name.starts_with(nesting) || !name.ends_with('>')) continue;
        name = name.substr(nesting.size(), name.size() - nesting.size() - 1);
        if (name.ends_with(' ')) name.pop_back();
        break;
    }
    return name;
}

}  // namespace pawl::failure
