#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <pawl/error_record.hpp>

#include "failure/capture.hpp"
#include "model/claimed_job.hpp"

namespace pawl::failure {

/// One error of a chain.
struct Link {
    std::exception_ptr exception;
    std::string type;
    std::string message;
    std::optional<std::error_code> code;
    /// By itself, not by its causes.
    ErrorClass error_class{ErrorClass::unknown};
    /// Its class stays unknown whatever its causes are.
    bool class_is_final{};
    /// Must not be retried: the text of its DoNotRetry mark, empty for a PermanentError.
    std::optional<std::string> do_not_retry;
};

/// Links kept of a chain, the error itself included.
inline constexpr std::size_t longest_chain = 32;

}  // namespace pawl::failure

namespace pawl::detail {

/// What a Failure and its copies look at. Never without links.
struct CapturedFailure {
    std::shared_ptr<const model::ClaimedJob> job;
    failure::RunTimes times;
    std::vector<failure::Link> links;
    bool truncated{};
};

}  // namespace pawl::detail

namespace pawl::failure {

/// The links of a failure, from the error it stands for to its innermost cause.
[[nodiscard]] std::vector<Link>::const_iterator first_link(const Failure& failure) noexcept;
[[nodiscard]] std::vector<Link>::const_iterator last_link(const Failure& failure) noexcept;

}  // namespace pawl::failure
