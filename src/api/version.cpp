#include <pawl/version.hpp>

#define PAWL_STRINGIFY_AGAIN(text) #text
#define PAWL_STRINGIFY(macro) PAWL_STRINGIFY_AGAIN(macro)

namespace pawl {

std::string_view version() noexcept {
    return PAWL_STRINGIFY(PAWL_VERSION_MAJOR) "." PAWL_STRINGIFY(PAWL_VERSION_MINOR) "." PAWL_STRINGIFY(
        PAWL_VERSION_PATCH);
}

}  // namespace pawl
