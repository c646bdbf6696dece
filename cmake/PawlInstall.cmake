# What `cmake --install` lays down: the library, its headers, the CMake package and the pkg-config file.

include(CMakePackageConfigHelpers)

set(_pawl_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pawl")

install(TARGETS pawl pawl_testing
    EXPORT pawl-targets
    FILE_SET HEADERS
    ARCHIVE
    LIBRARY
    RUNTIME)
install(EXPORT pawl-targets NAMESPACE pawl:: DESTINATION "${_pawl_package_dir}")

get_target_property(_pawl_kind pawl TYPE)
set(PAWL_IS_STATIC OFF)
if(_pawl_kind STREQUAL "STATIC_LIBRARY")
    set(PAWL_IS_STATIC ON)
endif()

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/pawl-config.cmake.in"
    "${PROJECT_BINARY_DIR}/pawl-config.cmake"
    INSTALL_DESTINATION "${_pawl_package_dir}")
# Before 1.0 a minor version may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pawl-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/pawl-config.cmake"
    "${PROJECT_BINARY_DIR}/pawl-config-version.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/PawlFindPqxx.cmake"
    DESTINATION "${_pawl_package_dir}")

# Who links a static pawl links what it uses, so there that is public: `pkg-config --static` would ask for a static
# libpq as well, whose own dependencies few systems have.
if(PAWL_IS_STATIC)
    set(PAWL_PC_REQUIRES "nlohmann_json >= 3.10, libpqxx >= 6.4, libpq, spdlog >= 1.10, fmt >= 9")
    set(PAWL_PC_REQUIRES_PRIVATE "")
    set(PAWL_PC_LIBS "-L\${libdir} -lpawl -pthread")
    set(PAWL_PC_CFLAGS "-I\${includedir} -DPAWL_STATIC_DEFINE -pthread")
else()
    set(PAWL_PC_REQUIRES "nlohmann_json >= 3.10")
    set(PAWL_PC_REQUIRES_PRIVATE "libpqxx >= 6.4, libpq, spdlog >= 1.10, fmt >= 9")
    set(PAWL_PC_LIBS "-L\${libdir} -lpawl")
    set(PAWL_PC_CFLAGS "-I\${includedir}")
endif()
# Relative to the file itself, so that `cmake --install --prefix` and a moved tree are right as well.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(PAWL_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH PAWL_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
    string(REGEX REPLACE "/$" "" PAWL_PC_PREFIX "${PAWL_PC_PREFIX}")
    set(PAWL_PC_PREFIX "\${pcfiledir}/${PAWL_PC_PREFIX}")
endif()
foreach(_dir IN ITEMS LIBDIR INCLUDEDIR)
    set(PAWL_PC_${_dir} "${CMAKE_INSTALL_${_dir}}")
    if(NOT IS_ABSOLUTE "${PAWL_PC_${_dir}}")
        set(PAWL_PC_${_dir} "\${prefix}/${PAWL_PC_${_dir}}")
    endif()
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/pawl.pc.in" "${PROJECT_BINARY_DIR}/pawl.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/pawl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
