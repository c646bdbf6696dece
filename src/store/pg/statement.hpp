#pragma once

#include <string>
#include <string_view>

namespace pawl::store::pg {

/// One SQL statement of ours. The name is what it is prepared under, once per connection; an empty name is never
/// prepared (for what runs once).
struct Statement {
    std::string name;
    std::string sql;
};

/// Replaces `@schema@` by the schema's name as a quoted identifier and `@schema_text@` by it as a quoted literal.
/// Any name is taken that PostgreSQL takes: with quotes, dots, capitals, spaces or beyond ASCII.
///
/// **Throws** `ConfigError` for the field `schema`, as `validate_schema`.
[[nodiscard]] std::string with_schema(std::string_view sql, std::string_view schema);

/// Replaces every `what` by `with`: for statements that are put together of parts.
void replace(std::string& sql, std::string_view what, std::string_view with);

/// **Throws** `ConfigError` for a name that is empty, over 63 bytes (PostgreSQL would cut it silently), not UTF-8,
/// holds a NUL, or begins with `pg_`.
void validate_schema(std::string_view schema);

[[nodiscard]] std::string quote_identifier(std::string_view name);
[[nodiscard]] std::string quote_literal(std::string_view text);

}  // namespace pawl::store::pg
