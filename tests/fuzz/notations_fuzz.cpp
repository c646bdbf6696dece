// What is read from the database or from options: it is understood or refused, and what was understood is said the same way.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <pawl/backoff.hpp>
#include <pawl/errors.hpp>

#include "model/backoff_text.hpp"
#include "store/pg/arrays.hpp"
#include "store/pg/conninfo.hpp"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void read_backoff(std::string_view text) {
    try {
        const std::string printed = pawl::model::to_text(pawl::model::parse_backoff(text));
        require(pawl::model::to_text(pawl::model::parse_backoff(printed)) == printed);
    } catch (const pawl::ConfigError&) {
    }
}

void read_arrays(std::string_view text) {
    if (const auto numbers = pawl::store::pg::parse_int64_array(text)) {
        const std::string printed = pawl::store::pg::array_text(*numbers);
        require(pawl::store::pg::parse_int64_array(printed) == numbers);
    }
    if (const auto texts = pawl::store::pg::parse_text_array(text)) {
        const std::string printed = pawl::store::pg::array_text(*texts);
        require(pawl::store::pg::parse_text_array(printed) == texts);
    }
}

void read_conninfo(std::string_view text) {
    (void)pawl::store::pg::redacted(text);
    try {
        const pawl::store::pg::Conninfo conninfo(text, "fuzz");
        (void)conninfo.masked(conninfo.redacted());
    } catch (const pawl::ConfigError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_backoff(text);
    read_arrays(text);
    read_conninfo(text);
    return 0;
}
