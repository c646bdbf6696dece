#include "store/pg/result.hpp"

#include <charconv>
#include <utility>

#include <pawl/errors.hpp>

#include "store/pg/arrays.hpp"
#include "store/pg/compat.hpp"

namespace pawl::store::pg {

namespace {

auto field(const pqxx::result& rows, std::size_t row, int column) {
    return rows[static_cast<pqxx::result_size_type>(row)][static_cast<pqxx::row_size_type>(column)];
}

[[noreturn]] void unreadable(std::size_t row, int column, std::string_view wanted) {
    throw StoreError(ErrorCode::internal, "row " + std::to_string(row) + ", column " + std::to_string(column) +
                                              " of a result does not read as " + std::string{wanted});
}

template <class Number>
Number number(std::string_view text, std::size_t row, int column, std::string_view wanted) {
    Number value{};
    const auto end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || next != end) unreadable(row, column, wanted);
    return value;
}

}  // namespace

Result::Result(const pqxx::result& rows)
    : rows_(std::make_shared<const pqxx::result>(rows)), size_(static_cast<std::size_t>(rows.size())) {}

std::int64_t Result::affected() const { return static_cast<std::int64_t>(rows_->affected_rows()); }

bool Result::is_null(std::size_t row, int column) const { return field(*rows_, row, column).is_null(); }

std::optional<std::string_view> Result::optional_text(std::size_t row, int column) const {
    const auto& cell = field(*rows_, row, column);
    if (cell.is_null()) return std::nullopt;
    return std::string_view{cell.c_str(), static_cast<std::size_t>(cell.size())};
}

std::string_view Result::text(std::size_t row, int column) const {
    const auto value = optional_text(row, column);
    if (!value) unreadable(row, column, "text: it is null");
    return *value;
}

std::int64_t Result::int64(std::size_t row, int column) const {
    return number<std::int64_t>(text(row, column), row, column, "bigint");
}

std::int32_t Result::int32(std::size_t row, int column) const {
    return number<std::int32_t>(text(row, column), row, column, "integer");
}

double Result::float64(std::size_t row, int column) const {
    return number<double>(text(row, column), row, column, "double precision");
}

bool Result::boolean(std::size_t row, int column) const {
    const auto value = text(row, column);
    if (value != "t" && value != "f") unreadable(row, column, "boolean");
    return value == "t";
}

Time Result::time(std::size_t row, int column) const { return Time{std::chrono::microseconds{int64(row, column)}}; }

Duration Result::duration(std::size_t row, int column) const { return std::chrono::microseconds{int64(row, column)}; }

std::optional<std::string> Result::optional_string(std::size_t row, int column) const {
    if (const auto value = optional_text(row, column)) return std::string{*value};
    return std::nullopt;
}

std::optional<std::int64_t> Result::optional_int64(std::size_t row, int column) const {
    if (is_null(row, column)) return std::nullopt;
    return int64(row, column);
}

std::optional<std::int32_t> Result::optional_int32(std::size_t row, int column) const {
    if (is_null(row, column)) return std::nullopt;
    return int32(row, column);
}

std::optional<bool> Result::optional_boolean(std::size_t row, int column) const {
    if (is_null(row, column)) return std::nullopt;
    return boolean(row, column);
}

std::optional<Time> Result::optional_time(std::size_t row, int column) const {
    if (is_null(row, column)) return std::nullopt;
    return time(row, column);
}

std::optional<Duration> Result::optional_duration(std::size_t row, int column) const {
    if (is_null(row, column)) return std::nullopt;
    return duration(row, column);
}

std::vector<std::int64_t> Result::int64_array(std::size_t row, int column) const {
    const auto value = optional_text(row, column);
    if (!value) return {};
    auto items = parse_int64_array(*value);
    if (!items) unreadable(row, column, "bigint[]");
    return *std::move(items);
}

std::vector<std::string> Result::text_array(std::size_t row, int column) const {
    const auto value = optional_text(row, column);
    if (!value) return {};
    auto items = parse_text_array(*value);
    if (!items) unreadable(row, column, "text[]");
    std::vector<std::string> result;
    result.reserve(items->size());
    for (auto& item : *items) {
        if (!item) unreadable(row, column, "text[] without nulls");
        result.push_back(*std::move(item));
    }
    return result;
}

}  // namespace pawl::store::pg
