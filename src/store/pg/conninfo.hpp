#pragma once

#include <string>
#include <string_view>

namespace pawl::store::pg {

/// A connection string, read once: a URI or `key=value` words, as libpq takes them.
///
/// What it leaves open, and no environment variable of libpq says, gets our defaults: a lost server is noticed in
/// seconds rather than hours (connect_timeout 5 s; keepalives after 10 s, every 5 s, 3 times; tcp_user_timeout 15 s).
/// The client encoding is always UTF-8.
///
/// **Throws** `ConfigError` for the field `connection`. Its text quotes nothing of the string: the piece that cannot be
/// parsed is, more often than not, an unescaped password.
class Conninfo {
public:
    explicit Conninfo(std::string_view text, std::string_view application_name = "pawl");

    /// For libpq. Holds the password.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// For people: host, port, database and user.
    [[nodiscard]] const std::string& redacted() const noexcept { return redacted_; }
    /// `message` with the password, should it hold it, replaced.
    [[nodiscard]] std::string masked(std::string message) const;

private:
    std::string text_;
    std::string redacted_;
    std::string password_;
};

/// What may be shown of a connection string, also of one that cannot be parsed.
[[nodiscard]] std::string redacted(std::string_view conninfo);

}  // namespace pawl::store::pg
