#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <pawl/export.hpp>

namespace pawl {

/// What went wrong, as a closed list: what a program can tell apart without reading texts.
enum class ErrorCode : std::uint8_t {
    config,              ///< an option, a builder value or a registration is not acceptable
    payload,             ///< a payload or result cannot be encoded or decoded
    store_unavailable,   ///< the database could not be reached, or did not do it in time; nothing was written
    store_rejected,      ///< the database refused the statement; nothing was written
    in_doubt,            ///< the connection was lost while a write was under way: it may or may not have happened
    closed_transaction,  ///< the caller's transaction is already committed, rolled back or broken
    schema_mismatch,     ///< the schema is missing, or of a version that this release does not know
    stopped,             ///< the scheduler is not started, or already stopping
    not_found,           ///< there is no such job, kind or queue
    internal,            ///< a defect of the library
};

/// The words above, for logs.
[[nodiscard]] PAWL_EXPORT std::string_view to_string(ErrorCode code) noexcept;

/// The root of all that the library throws.
///
/// **Threads**: const members safe concurrently.
class PAWL_EXPORT Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& message);
    Error(const Error&) = default;
    Error& operator=(const Error&) = default;
    ~Error() override;

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }

private:
    ErrorCode code_;
};

/// A value that cannot be accepted; nothing was stored. The text begins with the field's name.
class PAWL_EXPORT ConfigError : public Error {
public:
    /// `problem` says what is wrong with the field and what would be right.
    ConfigError(std::string_view field, std::string_view problem);
    ConfigError(const ConfigError&) = default;
    ConfigError& operator=(const ConfigError&) = default;
    ~ConfigError() override;

    /// As it is spelled in the options or the builder, for instance `max_retries`.
    [[nodiscard]] std::string_view field() const noexcept { return field_; }

private:
    std::string field_;
};

/// The database did not do what was asked. Texts hold no passwords and no values of rows.
class PAWL_EXPORT StoreError : public Error {
public:
    /// What the database said about it, as far as it did.
    struct Cause {
        bool transient = false;
        std::string sqlstate{};
    };

    StoreError(ErrorCode code, const std::string& message);
    StoreError(ErrorCode code, const std::string& message, Cause cause);
    StoreError(const StoreError&) = default;
    StoreError& operator=(const StoreError&) = default;
    ~StoreError() override;

    /// The same call may succeed later without anybody changing anything: lost connections, conflicts, time-outs,
    /// a server that starts or has run out of something. A wrong password or host looks the same to the client.
    [[nodiscard]] bool transient() const noexcept { return cause_.transient; }

    /// The write may have happened: repeat it only if doing it twice does no harm.
    [[nodiscard]] bool in_doubt() const noexcept { return code() == ErrorCode::in_doubt; }

    /// PostgreSQL's five-character code; empty when none is known, as with lost connections.
    [[nodiscard]] std::string_view sqlstate() const noexcept { return cause_.sqlstate; }

private:
    Cause cause_;
};

}  // namespace pawl
