#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/detail/callable.hpp>
#include <pawl/error_record.hpp>
#include <pawl/export.hpp>
#include <pawl/failure.hpp>

namespace pawl {

/// The only door through which an error reaches a column, an event, a log line, a metric or a page.
///
/// One that throws is replaced by the default for that error. Whatever it returns is repaired to valid UTF-8 without
/// control characters and bounded in length.
///
/// **Threads**: called concurrently from worker threads.
class PAWL_EXPORT ErrorSanitizer {
public:
    ErrorSanitizer() = default;
    ErrorSanitizer(const ErrorSanitizer&) = delete;
    ErrorSanitizer& operator=(const ErrorSanitizer&) = delete;
    virtual ~ErrorSanitizer();

    [[nodiscard]] virtual ErrorRecord sanitize(const Failure& failure) const = 0;
};

/// Repairs UTF-8, removes NUL and control characters except newline and tab, replaces secrets by `***REDACTED***`, and
/// cuts each text to 2,000 bytes at a character's boundary with a mark; keeps type names and 10 causes.
///
/// Secrets: passwords in `scheme://user:password@host` and whole JDBC URLs; values of `password`, `pwd`, `token`, `secret`,
/// `api_key` and their like in URLs, conninfo strings, JSON and key-value text; `Authorization`, bearer and basic values;
/// PEM blocks; e-mail addresses; long runs of digits that pass the Luhn check of payment cards. Time is linear in the
/// text, whatever it holds.
class PAWL_EXPORT DefaultErrorSanitizer final : public ErrorSanitizer {
public:
    /// How many bytes at the start of `rest` are a secret; 0 for none. `before` is the byte in front of it, or NUL.
    using Pattern = detail::Callable<std::size_t(std::string_view rest, char before)>;

    struct Settings {
        /// Names whose values are secrets too, in any case of letters, as in `session_id=…`. Default none.
        std::vector<std::string> keys{};
        /// Beginnings of words that are secrets as a whole, as in `sk_live_…`. Default none.
        std::vector<std::string> prefixes{};
        /// Tried at each position of the text.
        std::vector<Pattern> patterns{};
        /// Bytes kept of each text, mark included; from 64 to 100,000.
        std::size_t max_bytes{2000};
        /// Causes kept, at most 31.
        std::size_t max_causes{10};
    };

    DefaultErrorSanitizer();
    /// **Throws** `ConfigError` for an empty key, prefix or pattern, and for bounds out of range.
    explicit DefaultErrorSanitizer(Settings settings);

    [[nodiscard]] ErrorRecord sanitize(const Failure& failure) const override;

    /// The same for a single text.
    [[nodiscard]] std::string sanitize_text(std::string_view text) const;

private:
    Settings settings_;
};

}  // namespace pawl
