#include <string>

#include <gtest/gtest.h>

#include <pawl/version.hpp>

TEST(Version, of_the_library_is_that_of_its_headers) {
    const std::string headers = std::to_string(PAWL_VERSION_MAJOR) + '.' + std::to_string(PAWL_VERSION_MINOR) + '.' +
                                std::to_string(PAWL_VERSION_PATCH);
    EXPECT_EQ(pawl::version(), headers);
}
