#include "failure/classify.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <variant>

#include <cxxabi.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>

#include "failure/marks.hpp"

namespace pawl::failure {
namespace {

constexpr std::array transient_codes{
    std::errc::connection_refused,
    std::errc::connection_reset,
    std::errc::connection_aborted,
    std::errc::timed_out,
    std::errc::host_unreachable,
    std::errc::network_down,
    std::errc::network_reset,
    std::errc::network_unreachable,
    std::errc::no_buffer_space,
    std::errc::resource_unavailable_try_again,
    std::errc::device_or_resource_busy,
    std::errc::too_many_files_open,
    std::errc::interrupted,
    std::errc::broken_pipe,
};
constexpr std::array permanent_codes{std::errc::permission_denied, std::errc::operation_not_permitted};

using detail::type_match;

const std::vector<detail::TypeMatch>& built_in_permanent_types() {
    static const std::vector<detail::TypeMatch> types{
        type_match<std::invalid_argument>(),   type_match<std::domain_error>(),
        type_match<std::length_error>(),       type_match<std::out_of_range>(),
        type_match<std::bad_variant_access>(), type_match<std::bad_optional_access>(),
        type_match<std::bad_function_call>(),
    };
    return types;
}

std::optional<ErrorClass> asked(const Classification::CodePredicate& predicate, const std::error_code& code) {
    try {
        return predicate(code);
    } catch (abi::__forced_unwind&) {
        throw;
    } catch (...) {  // User code; a predicate that fails has no opinion.
        return std::nullopt;
    }
}

std::optional<ErrorClass> class_of_code(const std::error_code& code, const Classification& classification) {
    for (auto predicate = classification.codes().rbegin(); predicate != classification.codes().rend(); ++predicate) {
        if (const auto opinion = asked(*predicate, code)) return opinion;
    }
    const auto same = [&](std::errc known) { return code == known; };
    if (std::ranges::any_of(transient_codes, same)) return ErrorClass::transient;
    if (std::ranges::any_of(permanent_codes, same)) return ErrorClass::permanent;
    return std::nullopt;
}

std::optional<ErrorClass> class_of(const Link& link, const Classification& classification) {
    const auto matches = [&](const detail::TypeMatch& type) { return type.catches(link.exception); };

    const auto& types = classification.types();
    const auto registered =
        std::find_if(types.rbegin(), types.rend(), [&](const auto& entry) { return matches(entry.type); });
    if (registered != types.rend()) return registered->error_class;
    if (link.do_not_retry) return ErrorClass::permanent;
    if (link.code) {
        if (const auto judged = class_of_code(*link.code, classification)) return judged;
    }
    if (detail::caught<TransientError>(link.exception) != nullptr) return ErrorClass::transient;
    if (const auto* store = detail::caught<StoreError>(link.exception); store != nullptr && store->transient()) {
        return ErrorClass::transient;
    }
    const auto& permanent = classification.permanent() ? *classification.permanent() : built_in_permanent_types();
    if (std::ranges::any_of(permanent, matches)) return ErrorClass::permanent;
    return std::nullopt;
}

std::optional<std::string> forbidden(const Link& link, const std::type_info* type) {
    if (type != nullptr) {
        if (auto reason = mark_on(*type)) return reason;
    }
    if (detail::caught<PermanentError>(link.exception) != nullptr) return std::string();
    return std::nullopt;
}

const std::type_info* thrown_type(const std::exception_ptr& exception) noexcept {
    if (!exception) return nullptr;
    try {
        std::rethrow_exception(exception);
    } catch (...) {
        return abi::__cxa_current_exception_type();
    }
}

}  // namespace

void classify(Link& link, const Classification& classification) {
    link.do_not_retry = forbidden(link, thrown_type(link.exception));
    const auto judged = class_of(link, classification);
    link.error_class = judged.value_or(ErrorClass::unknown);
    // What a codec throws says nothing about whether another release can decode the payload.
    link.class_is_final = !judged && detail::caught<PayloadError>(link.exception) != nullptr;
}

}  // namespace pawl::failure
