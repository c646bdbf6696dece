# Does a C++20 program that uses this libpqxx link? libpqxx 7.8 built as C++17 lacks the constructors that take a
# std::source_location, which its headers call when they are read as C++20. Optimisation can hide it, so the check
# runs without.
#
# Sets PAWL_PQXX_BUILT_AS_CXX17. Own targets that include libpqxx then start each source with
# cmake/pqxx_built_as_cxx17.hpp, through the interface target pawl_pqxx, which they link in place of pawl::pqxx.

function(_pawl_pqxx_links result)
    set(CMAKE_TRY_COMPILE_CONFIGURATION Debug)
    set(CMAKE_CXX_FLAGS_DEBUG "-O0")
    try_compile(linked
        "${PROJECT_BINARY_DIR}/pqxx_check/${result}"
        SOURCES "${PROJECT_SOURCE_DIR}/cmake/pqxx_check.cpp"
        COMPILE_DEFINITIONS ${ARGN}
        LINK_LIBRARIES pawl::pqxx
        OUTPUT_VARIABLE output
        CXX_STANDARD 20
        CXX_STANDARD_REQUIRED ON
        CXX_EXTENSIONS OFF)
    set(${result} ${linked} PARENT_SCOPE)
    set(_pawl_pqxx_output "${output}" PARENT_SCOPE)
endfunction()

if(NOT DEFINED PAWL_PQXX_BUILT_AS_CXX17)
    _pawl_pqxx_links(PAWL_PQXX_LINKS)
    if(PAWL_PQXX_LINKS)
        set(_pawl_as_cxx17 OFF)
    else()
        _pawl_pqxx_links(PAWL_PQXX_LINKS_AS_CXX17 "-DPAWL_PQXX_BUILT_AS_CXX17")
        if(NOT PAWL_PQXX_LINKS_AS_CXX17)
            message(FATAL_ERROR
                "a C++20 program that uses the libpqxx found here does not link. If this libpqxx was built as C++17, "
                "rebuild it as C++20 or use 7.9 or newer. The compiler and linker said:\n${_pawl_pqxx_output}")
        endif()
        set(_pawl_as_cxx17 ON)
        message(WARNING
            "this libpqxx was built as C++17. pawl works around it in its own sources; a C++20 source of yours that "
            "includes libpqxx will not link. Compile such sources as C++17, rebuild libpqxx as C++20, or use 7.9 or newer.")
    endif()
    set(PAWL_PQXX_BUILT_AS_CXX17 ${_pawl_as_cxx17} CACHE INTERNAL "libpqxx lacks what its headers need as C++20")
endif()

add_library(pawl_pqxx INTERFACE)
target_link_libraries(pawl_pqxx INTERFACE pawl::pqxx)
if(PAWL_PQXX_BUILT_AS_CXX17)
    target_compile_options(pawl_pqxx INTERFACE -include "${PROJECT_SOURCE_DIR}/cmake/pqxx_built_as_cxx17.hpp")
endif()
