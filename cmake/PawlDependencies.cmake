# Everything pawl needs, found and never downloaded.

# A parent project that adds pawl as a subdirectory links pawl's static archive itself, so it must see these.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt 9 CONFIG REQUIRED)
find_package(spdlog 1.10 CONFIG REQUIRED)
find_package(nlohmann_json 3.10 CONFIG REQUIRED)
include(PawlFindPqxx)
include(PawlCheckPqxx)

if(PAWL_BUILD_TESTS)
    find_package(GTest 1.11 CONFIG REQUIRED)
endif()

unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
