#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pawl/clock.hpp>

namespace pawl::store::pg {

/// Values for `$1, $2, …` in the order of adding, as text: the statement casts where PostgreSQL cannot infer the type
/// (`$3::bigint[]`, `$4::jsonb[]`). Times and durations are bigint microseconds; the statement converts.
///
///     connection.run(complete, Params{}.add(token).add(ids).add("done").add(result));
///
/// **Throws** `StoreError` with code `store_rejected` for text with a NUL: libpq would silently cut it there.
/// **Threads**: confined to one thread.
class Params {
public:
    Params& add_null();

    Params& add(std::integral auto value) { return add_int64(static_cast<std::int64_t>(value)); }
    Params& add(bool value);
    Params& add(double value);
    Params& add(std::string_view value);
    Params& add(const char* value) { return add(std::string_view{value}); }
    Params& add(const std::string& value) { return add(std::string_view{value}); }
    Params& add(std::string&& value);
    Params& add(Time value) { return add_int64(value.time_since_epoch().count()); }
    Params& add(Duration value) { return add_int64(value.count()); }

    template <class T>
    Params& add(const std::optional<T>& value) {
        return value ? add(*value) : add_null();
    }

    /// For bigint[], int[] and smallint[].
    Params& add(std::span<const std::int64_t> values);
    Params& add(std::span<const std::int32_t> values);
    Params& add(std::span<const std::int16_t> values);
    Params& add(const std::vector<std::int64_t>& values) { return add(std::span{values}); }
    Params& add(const std::vector<std::int32_t>& values) { return add(std::span{values}); }
    Params& add(const std::vector<std::int16_t>& values) { return add(std::span{values}); }
    /// With nulls as elements.
    Params& add(const std::vector<std::optional<std::int64_t>>& values);
    /// For text[] and jsonb[].
    Params& add(std::span<const std::string> values);
    Params& add(std::span<const std::string_view> values);
    Params& add(const std::vector<std::string>& values) { return add(std::span{values}); }
    Params& add(const std::vector<std::string_view>& values) { return add(std::span{values}); }
    Params& add(const std::vector<std::optional<std::string>>& values);
    /// For boolean[].
    Params& add(const std::vector<bool>& values);

    [[nodiscard]] const std::vector<std::optional<std::string>>& values() const noexcept { return values_; }
    [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

private:
    Params& add_int64(std::int64_t value);

    std::vector<std::optional<std::string>> values_;
};

}  // namespace pawl::store::pg
