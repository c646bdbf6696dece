// Whatever an error says: what leaves the sanitizer is valid, visible and bounded, and no planted secret survives in it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <pawl/error_sanitizer.hpp>

#include "base/utf8.hpp"
#include "failure/utf8.hpp"

namespace {

constexpr std::string_view secret = "hunter2Hunter2";

/// Where secrets stand in error texts. `%` is the secret; each on lines of its own, so that what is around it is only noise.
constexpr std::array<std::string_view, 12> shapes{
    "postgresql://shop:%@db/orders",
    "amqps://%@broker",
    "jdbc:postgresql://db/x?user=%",
    "password=% host=db",
    "password = '%'",
    R"({"token": "%", "id": 7})",
    "https://x/y?api_key=%&z=1",
    "Authorization: Bearer %",
    "Proxy-Authorization: Basic %",
    "secret: %",
    R"("client_secret":"%")",
    "-----BEGIN PRIVATE KEY-----\n%\n-----END PRIVATE KEY-----",
};

void require(bool holds) {
    if (!holds) std::abort();
}

void require_clean(std::string_view text, std::size_t most) {
    require(text.size() <= most);
    require(pawl::base::find_invalid_utf8(text) == std::string_view::npos);
    for (const char c : text) require(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const pawl::DefaultErrorSanitizer sanitizer;
    const std::string noise(reinterpret_cast<const char*>(data), size);
    const std::string plain = sanitizer.sanitize_text(noise);
    require_clean(plain, 2000);
    // Said once more, it does not come apart.
    require_clean(sanitizer.sanitize_text(plain), 2000);

    if (size < 2 || pawl::failure::repair_utf8(noise).find(secret) != std::string::npos) return 0;
    std::string planted(shapes.at(data[0] % shapes.size()));
    planted.replace(planted.find('%'), 1, secret);
    const std::size_t at = data[1] % (size - 1) + 1;
    const std::string text = noise.substr(0, at) + "\n" + planted + "\n" + noise.substr(at);
    const std::string said = sanitizer.sanitize_text(text);
    require_clean(said, 2000);
    require(said.find(secret) == std::string::npos);
    return 0;
}
