# pawl_add_test_program(NAME SOURCE...) builds one GoogleTest program that sees the inside of the library. Without
# sources there is no such program yet.
#
# Test files share a precompiled header; src never does, where it would hide a missing include.

set(PAWL_TEST_PCH
    <chrono>
    <optional>
    <string>
    <string_view>
    <vector>
    <gmock/gmock.h>
    <gtest/gtest.h>
    <nlohmann/json.hpp>)

function(pawl_add_test_program name)
    if(NOT ARGN)
        return()
    endif()
    add_executable(${name} ${ARGN})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE
        pawl_testing
        pawl_inside
        pawl_build
        pawl_pqxx
        fmt::fmt
        spdlog::spdlog
        GTest::gmock_main)
    set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    # They run for milliseconds and are compiled for seconds.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-O0>)
    # The workaround for such a libpqxx has to be the first thing that a source includes.
    if(NOT PAWL_PQXX_BUILT_AS_CXX17)
        target_precompile_headers(${name} PRIVATE ${PAWL_TEST_PCH})
    endif()
endfunction()

# pawl_add_database_test(NAME PROGRAM) runs PROGRAM once, as one process, on one private PostgreSQL.
function(pawl_add_database_test name program)
    if(NOT TARGET ${program})
        return()
    endif()
    add_test(NAME ${name}
        COMMAND "${PROJECT_SOURCE_DIR}/cmake/private_postgres.sh" "$<TARGET_FILE:${program}>")
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 RUN_SERIAL ON)
endfunction()
