# cmake -C cmake/presets/default.cmake -S . -B build -G Ninja
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(PAWL_BUILD_BENCHMARKS OFF CACHE BOOL "")
