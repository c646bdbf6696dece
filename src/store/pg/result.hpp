#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/clock.hpp>

namespace pqxx {
class result;
}

namespace pawl::store::pg {

/// The rows of a statement, read by row and column from zero. Copies share the rows.
///
/// The forms without `optional` want a value: null, or text that does not read as the type, is a defect of the
/// statement and throws `StoreError` with code `internal`.
///
/// **Threads**: const members safe concurrently.
/// **Lifetime**: views point into the rows and live as long as any copy of the result. It outlives its connection.
class Result {
public:
    explicit Result(const pqxx::result& rows);

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Rows inserted, updated or deleted by the statement's outermost verb; rows selected for a select.
    [[nodiscard]] std::int64_t affected() const;

    [[nodiscard]] bool is_null(std::size_t row, int column) const;
    [[nodiscard]] std::string_view text(std::size_t row, int column) const;
    [[nodiscard]] std::string string(std::size_t row, int column) const { return std::string{text(row, column)}; }
    [[nodiscard]] std::int64_t int64(std::size_t row, int column) const;
    [[nodiscard]] std::int32_t int32(std::size_t row, int column) const;
    [[nodiscard]] bool boolean(std::size_t row, int column) const;
    [[nodiscard]] double float64(std::size_t row, int column) const;
    /// From bigint microseconds since 1970: `(extract(epoch from t) * 1000000)::bigint`.
    [[nodiscard]] Time time(std::size_t row, int column) const;
    [[nodiscard]] Duration duration(std::size_t row, int column) const;

    [[nodiscard]] std::optional<std::string_view> optional_text(std::size_t row, int column) const;
    [[nodiscard]] std::optional<std::string> optional_string(std::size_t row, int column) const;
    [[nodiscard]] std::optional<std::int64_t> optional_int64(std::size_t row, int column) const;
    [[nodiscard]] std::optional<std::int32_t> optional_int32(std::size_t row, int column) const;
    [[nodiscard]] std::optional<bool> optional_boolean(std::size_t row, int column) const;
    [[nodiscard]] std::optional<Time> optional_time(std::size_t row, int column) const;
    [[nodiscard]] std::optional<Duration> optional_duration(std::size_t row, int column) const;

    /// Arrays of one dimension without nulls; null as a whole reads as empty.
    [[nodiscard]] std::vector<std::int64_t> int64_array(std::size_t row, int column) const;
    [[nodiscard]] std::vector<std::string> text_array(std::size_t row, int column) const;

private:
    std::shared_ptr<const pqxx::result> rows_;
    std::size_t size_ = 0;
};

}  // namespace pawl::store::pg
