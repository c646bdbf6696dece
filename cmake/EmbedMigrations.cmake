# pawl_embed_migrations(TARGET FILE...) turns SQL files named NNNN_name.sql into one source file of TARGET that
# defines the tables declared in store/pg/migrations.hpp. Run as a script (cmake -P) it writes that source.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(_pawl_embed_script "${CMAKE_CURRENT_LIST_FILE}")

    function(pawl_embed_migrations target)
        set(files "")
        set(last 0)
        foreach(file IN LISTS ARGN)
            get_filename_component(name "${file}" NAME)
            if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_[a-z0-9_]+\\.sql$")
                message(FATAL_ERROR "migration ${file} is not named NNNN_name.sql")
            endif()
            if(NOT CMAKE_MATCH_1 GREATER last)
                message(FATAL_ERROR "migration ${file} is out of order or repeats a number")
            endif()
            set(last "${CMAKE_MATCH_1}")
            get_filename_component(path "${file}" ABSOLUTE)
            list(APPEND files "${path}")
        endforeach()

        set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_migrations.cpp")
        add_custom_command(
            OUTPUT "${output}"
            COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFILES=${files}" -P "${_pawl_embed_script}"
            DEPENDS ${files} "${_pawl_embed_script}"
            COMMENT "Embedding the migrations"
            VERBATIM)
        target_sources(${target} PRIVATE "${output}")
    endfunction()

    return()
endif()

# A string literal may be limited to 16 KiB (MSVC); adjacent literals are joined by the compiler.
set(piece_limit 8000)

set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
    get_filename_component(stem "${file}" NAME_WE)
    string(REGEX MATCH "^([0-9]+)_(.*)$" _ "${stem}")
    set(number "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "^0+" "" version "${number}")

    # Bytes are kept: brackets and semicolons mean nothing to the string functions used here, and a raw string takes
    # everything but its own delimiter.
    file(READ "${file}" sql)
    if(sql MATCHES "\\)pawl_sql\"")
        message(FATAL_ERROR "${file} holds the delimiter of the raw string it is embedded in")
    endif()

    string(LENGTH "${sql}" rest)
    set(at 0)
    set(literal "")
    while(rest GREATER 0)
        set(take ${piece_limit})
        if(rest LESS take)
            set(take ${rest})
        else()
            # End the piece after a line, so that no character of several bytes is cut in two.
            string(SUBSTRING "${sql}" ${at} ${take} piece)
            string(FIND "${piece}" "\n" line_end REVERSE)
            if(line_end GREATER -1)
                math(EXPR take "${line_end} + 1")
            endif()
        endif()
        string(SUBSTRING "${sql}" ${at} ${take} piece)
        string(APPEND literal "\n    R\"pawl_sql(${piece})pawl_sql\"")
        math(EXPR at "${at} + ${take}")
        math(EXPR rest "${rest} - ${take}")
    endwhile()
    if(literal STREQUAL "")
        message(FATAL_ERROR "${file} is empty")
    endif()

    string(APPEND arrays "constexpr std::string_view sql_${number} =${literal};\n\n")
    string(APPEND rows "    {${version}, \"${name}\", sql_${number}},\n")
    math(EXPR count "${count} + 1")
endforeach()

if(count EQUAL 0)
    set(rows "    {0, {}, {}}, // an array may not be empty\n")
endif()

file(WRITE "${OUTPUT}.new" "// Generated from src/store/migrations; edit the SQL files.

#include \"store/pg/migrations.hpp\"

namespace pawl::store::pg {

namespace {

${arrays}} // namespace

const Migration embedded_migrations[] = {
${rows}};
const std::size_t embedded_migration_count = ${count};

} // namespace pawl::store::pg
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
