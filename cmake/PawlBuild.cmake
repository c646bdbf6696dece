# How pawl's own targets are compiled. Nothing in this file reaches a consumer: the interface targets are
# linked as BUILD_INTERFACE only and are never exported.

if(PROJECT_IS_TOP_LEVEL)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
    endif()

    if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
        find_program(PAWL_CCACHE ccache)
        mark_as_advanced(PAWL_CCACHE)
        if(PAWL_CCACHE)
            set(CMAKE_CXX_COMPILER_LAUNCHER "${PAWL_CCACHE}")
        endif()
    endif()
endif()

add_library(pawl_warnings INTERFACE)
if(MSVC)
    target_compile_options(pawl_warnings INTERFACE /W4 $<$<BOOL:${PAWL_WERROR}>:/WX>)
else()
    target_compile_options(pawl_warnings INTERFACE
        -Wall
        -Wextra
        -Wpedantic
        -Wshadow
        -Wconversion
        -Wsign-conversion
        $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>
        # A designated initializer that leaves fields at their defaults is how options are meant to be written.
        -Wno-missing-field-initializers
        $<$<BOOL:${PAWL_WERROR}>:-Werror>)
endif()

add_library(pawl_sanitizers INTERFACE)
if(PAWL_SANITIZE)
    set(_pawl_sanitizer_options -fsanitize=${PAWL_SANITIZE} -fno-omit-frame-pointer)
    if(PAWL_SANITIZE MATCHES "undefined")
        list(APPEND _pawl_sanitizer_options -fno-sanitize-recover=undefined)
        # nlohmann_json casts a number before anybody can say that it does not fit; json.hpp finds out afterwards.
        if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
            list(APPEND _pawl_sanitizer_options
                -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/undefined_ignore.txt)
        endif()
    endif()
    target_compile_options(pawl_sanitizers INTERFACE ${_pawl_sanitizer_options})
    target_link_options(pawl_sanitizers INTERFACE ${_pawl_sanitizer_options})
endif()

# What every own target of the tree is compiled with.
add_library(pawl_build INTERFACE)
target_link_libraries(pawl_build INTERFACE pawl_warnings pawl_sanitizers)
