# The version stands twice: in project() for packages and in version.hpp for the preprocessor. They must agree.

set(_pawl_version_header "${PROJECT_SOURCE_DIR}/include/pawl/version.hpp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_pawl_version_header}")
file(READ "${_pawl_version_header}" _pawl_version_text)

set(_pawl_header_version "")
foreach(_part IN ITEMS MAJOR MINOR PATCH)
    if(NOT _pawl_version_text MATCHES "#define PAWL_VERSION_${_part} ([0-9]+)")
        message(FATAL_ERROR "include/pawl/version.hpp does not define PAWL_VERSION_${_part}")
    endif()
    list(APPEND _pawl_header_version "${CMAKE_MATCH_1}")
endforeach()
list(JOIN _pawl_header_version "." _pawl_header_version)

if(NOT _pawl_header_version VERSION_EQUAL PROJECT_VERSION)
    message(FATAL_ERROR
        "include/pawl/version.hpp says ${_pawl_header_version}, project() says ${PROJECT_VERSION}: change both")
endif()
