# Finds libpqxx and libpq and offers both as pawl::pqxx, whatever build of libpqxx the system has. Installed with
# pawl: its package config includes this file to repeat the search for the consumer.

if(NOT TARGET pawl::pqxx)
    find_package(PostgreSQL REQUIRED)

    find_package(libpqxx CONFIG QUIET)
    if(TARGET libpqxx::pqxx)
        set(_pawl_pqxx libpqxx::pqxx) # 7 and 8 built by CMake, vcpkg, Conan
    elseif(TARGET libpqxx::pqxx_shared)
        set(_pawl_pqxx libpqxx::pqxx_shared) # 6.4 built by CMake
    elseif(TARGET libpqxx::pqxx_static)
        set(_pawl_pqxx libpqxx::pqxx_static)
    else()
        find_package(PkgConfig REQUIRED) # autotools builds, such as Debian's, come with a .pc file alone
        pkg_check_modules(PAWL_PQXX REQUIRED IMPORTED_TARGET GLOBAL libpqxx>=6.4)
        set(_pawl_pqxx PkgConfig::PAWL_PQXX)
    endif()

    add_library(pawl::pqxx INTERFACE IMPORTED GLOBAL)
    target_link_libraries(pawl::pqxx INTERFACE ${_pawl_pqxx} PostgreSQL::PostgreSQL)
    unset(_pawl_pqxx)
endif()
