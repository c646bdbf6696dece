#include "store/pg/params.hpp"

#include <charconv>
#include <limits>
#include <utility>

#include <pawl/errors.hpp>

#include "store/pg/arrays.hpp"

namespace pawl::store::pg {

namespace {

void refuse_nul(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) {
        throw StoreError(ErrorCode::store_rejected, "a parameter holds a NUL byte, which PostgreSQL's text cannot",
                         {.transient = false, .sqlstate = "22021"});
    }
}

template <class Texts>
std::string checked_array(const Texts& values) {
    auto text = array_text(std::span{values});
    refuse_nul(text);
    return text;
}

template <std::size_t Size, class T>
std::string digits(T value) {
    char buffer[Size];
    return {buffer, std::to_chars(buffer, buffer + Size, value).ptr};
}

}  // namespace

Params& Params::add_null() {
    values_.emplace_back(std::nullopt);
    return *this;
}

Params& Params::add_int64(std::int64_t value) {
    values_.emplace_back(digits<std::numeric_limits<std::int64_t>::digits10 + 2>(value));
    return *this;
}

Params& Params::add(bool value) {
    values_.emplace_back(value ? "t" : "f");
    return *this;
}

Params& Params::add(double value) {
    values_.emplace_back(digits<32>(value));
    return *this;
}

Params& Params::add(std::string_view value) { return add(std::string{value}); }

Params& Params::add(std::string&& value) {
    refuse_nul(value);
    values_.emplace_back(std::move(value));
    return *this;
}

Params& Params::add(std::span<const std::int64_t> values) {
    values_.emplace_back(array_text(values));
    return *this;
}

Params& Params::add(std::span<const std::int32_t> values) {
    values_.emplace_back(array_text(values));
    return *this;
}

Params& Params::add(std::span<const std::int16_t> values) {
    values_.emplace_back(array_text(values));
    return *this;
}

Params& Params::add(const std::vector<std::optional<std::int64_t>>& values) {
    values_.emplace_back(array_text(std::span{values}));
    return *this;
}

Params& Params::add(std::span<const std::string> values) {
    values_.emplace_back(checked_array(values));
    return *this;
}

Params& Params::add(std::span<const std::string_view> values) {
    values_.emplace_back(checked_array(values));
    return *this;
}

Params& Params::add(const std::vector<std::optional<std::string>>& values) {
    values_.emplace_back(checked_array(values));
    return *this;
}

Params& Params::add(const std::vector<bool>& values) {
    values_.emplace_back(array_text(values));
    return *this;
}

}  // namespace pawl::store::pg
