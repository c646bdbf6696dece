#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::failure {

/// A secret found at a position: this many bytes are shown, the next ones are hidden.
struct Secret {
    std::size_t shown;
    std::size_t hidden;
};

/// A text and a position in it, for the scanners below. Each looks whether a secret starts exactly there.
struct Spot {
    std::string_view text;
    std::size_t at;

    [[nodiscard]] std::string_view rest() const { return text.substr(at); }
    [[nodiscard]] char before() const { return at == 0 ? '\0' : text[at - 1]; }
};

/// What a scanner looks ahead at most without taking it.
inline constexpr std::size_t longest_look = 4096;

[[nodiscard]] bool is_digit(char c) noexcept;
[[nodiscard]] bool is_letter_or_digit(char c) noexcept;
[[nodiscard]] bool is_blank(char c) noexcept;  ///< space, tab or newline
[[nodiscard]] char lowered(char c) noexcept;
/// Whether `text` begins with `word`, which is in lower case, in any case of letters.
[[nodiscard]] bool begins_with(std::string_view text, std::string_view word) noexcept;
/// How many bytes at the front are none of `ends`.
[[nodiscard]] std::size_t run_without(std::string_view text, std::string_view ends) noexcept;

/// `scheme://user:password@host`, at "://": what stands before the last '@'.
[[nodiscard]] std::optional<Secret> url_credentials(const Spot& spot);
/// `jdbc:…`, whole.
[[nodiscard]] std::optional<Secret> jdbc_url(const Spot& spot);
/// `key=value`, `"key": "value"`, `--key value`, `<key>value</key>`, and headers, where the key's name says that the value
/// is a secret. `more` are further names, in lower case and without '_' and '-'.
[[nodiscard]] std::optional<Secret> keyed_value(const Spot& spot, const std::vector<std::string>& more);
/// `Bearer …` and `Basic …` on their own, and what looks like a JSON web token.
[[nodiscard]] std::optional<Secret> bearer_value(const Spot& spot);
/// `-----BEGIN … -----END …-----`, or to the end of the text.
[[nodiscard]] std::optional<Secret> pem_block(const Spot& spot);
[[nodiscard]] std::optional<Secret> email_address(const Spot& spot);
/// 13 to 19 digits, also in groups, that pass the Luhn check.
[[nodiscard]] std::optional<Secret> card_number(const Spot& spot);

/// A name as keys are compared: lower case, without '_' and '-'.
[[nodiscard]] std::string normalized_key(std::string_view name);

}  // namespace pawl::failure
