# clang reads the thread-safety annotations; the build is for its warnings, so it does not optimise.
set(CMAKE_CXX_COMPILER clang++ CACHE STRING "")
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1" CACHE STRING "")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON CACHE BOOL "")
set(PAWL_BUILD_BENCHMARKS OFF CACHE BOOL "")
