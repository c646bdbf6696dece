#include "store/pg/statement.hpp"

#include <cstddef>

#include <pawl/errors.hpp>

#include "base/utf8.hpp"

namespace pawl::store::pg {

namespace {

std::string quoted(std::string_view text, char mark) {
    std::string result;
    result.reserve(text.size() + 2);
    result += mark;
    for (const char c : text) {
        if (c == mark) result += mark;
        result += c;
    }
    result += mark;
    return result;
}

}  // namespace

std::string quote_identifier(std::string_view name) { return quoted(name, '"'); }

std::string quote_literal(std::string_view text) {
    // Doubling quotes is enough for a plain literal under standard_conforming_strings; a backslash is made safe for
    // servers or sessions that switched that off.
    if (text.find('\\') == std::string_view::npos) return quoted(text, '\'');
    std::string doubled;
    for (const char c : text) {
        if (c == '\\') doubled += '\\';
        doubled += c;
    }
    return " E" + quoted(doubled, '\'');
}

void validate_schema(std::string_view schema) {
    constexpr std::size_t longest_identifier = 63;
    if (schema.empty()) throw ConfigError("schema", "is empty; the usual name is pawl");
    if (schema.size() > longest_identifier) {
        throw ConfigError("schema", "is longer than the 63 bytes that PostgreSQL keeps of a name");
    }
    if (schema.find('\0') != std::string_view::npos) throw ConfigError("schema", "holds a NUL byte");
    if (base::find_invalid_utf8(schema) != std::string_view::npos) throw ConfigError("schema", "is not valid UTF-8");
    if (schema.starts_with("pg_")) throw ConfigError("schema", "begins with pg_, which PostgreSQL keeps for itself");
}

void replace(std::string& text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

std::string with_schema(std::string_view sql, std::string_view schema) {
    validate_schema(schema);
    constexpr std::string_view identifier_mark = "@schema@";
    constexpr std::string_view text_mark = "@schema_text@";
    const auto identifier = quote_identifier(schema);
    const auto text = quote_literal(schema);

    std::string result;
    result.reserve(sql.size() + 16 * identifier.size());
    while (!sql.empty()) {
        const auto at = sql.find('@');
        result += sql.substr(0, at);
        if (at == std::string_view::npos) break;
        sql.remove_prefix(at);
        if (sql.starts_with(identifier_mark)) {
            result += identifier;
            sql.remove_prefix(identifier_mark.size());
        } else if (sql.starts_with(text_mark)) {
            result += text;
            sql.remove_prefix(text_mark.size());
        } else {
            result += '@';
            sql.remove_prefix(1);
        }
    }
    return result;
}

}  // namespace pawl::store::pg
