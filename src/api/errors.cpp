#include <utility>

#include <pawl/errors.hpp>

namespace pawl {

namespace {

std::string joined(std::string_view field, std::string_view problem) {
    std::string message{field};
    message += ": ";
    message += problem;
    return message;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::config:
            return "config";
        case ErrorCode::payload:
            return "payload";
        case ErrorCode::store_unavailable:
            return "store_unavailable";
        case ErrorCode::store_rejected:
            return "store_rejected";
        case ErrorCode::in_doubt:
            return "in_doubt";
        case ErrorCode::closed_transaction:
            return "closed_transaction";
        case ErrorCode::schema_mismatch:
            return "schema_mismatch";
        case ErrorCode::stopped:
            return "stopped";
        case ErrorCode::not_found:
            return "not_found";
        case ErrorCode::internal:
            return "internal";
    }
    return "internal";
}

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
Error::~Error() = default;

ConfigError::ConfigError(std::string_view field, std::string_view problem)
    : Error(ErrorCode::config, joined(field, problem)), field_(field) {}
ConfigError::~ConfigError() = default;

StoreError::StoreError(ErrorCode code, const std::string& message) : StoreError(code, message, Cause{}) {}
StoreError::StoreError(ErrorCode code, const std::string& message, Cause cause)
    : Error(code, message), cause_(std::move(cause)) {}
StoreError::~StoreError() = default;

}  // namespace pawl
