# Address and undefined-behaviour sanitizers, with leaks. clang at -O0 builds them several times faster than g++.
include("${CMAKE_CURRENT_LIST_DIR}/clang.cmake")
set(PAWL_SANITIZE "address,undefined" CACHE STRING "")
set(PAWL_BUILD_EXAMPLES OFF CACHE BOOL "")
set(PAWL_BUILD_FUZZERS ON CACHE BOOL "")
