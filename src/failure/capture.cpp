#include "failure/capture.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <cxxabi.h>

#include <pawl/control.hpp>

#include "failure/captured.hpp"
#include "failure/classify.hpp"
#include "failure/type_name.hpp"

namespace pawl::failure {
namespace {

// A thrown char pointer may point anywhere; no more than this is believed of it.
constexpr std::size_t longest_char_array = 4096;

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// What stands behind an error of the chain, in a way of the library's own.
std::exception_ptr own_cause(const std::exception_ptr& error) noexcept {
    if (const auto* said = detail::caught<RetryAfter>(error)) return said->cause;
    if (const auto* said = detail::caught<Discard>(error)) return said->cause;
    if (const auto* said = detail::caught<WorkerFatal>(error)) return said->cause;
    return nullptr;
}

std::exception_ptr cause_of(const std::exception_ptr& error) noexcept {
    if (const auto* nested = detail::caught<std::nested_exception>(error)) return nested->nested_ptr();
    return own_cause(error);
}

/// Reads what an error says. The order is from the most telling to the least.
void read(Link& link) {
    try {
        std::rethrow_exception(link.exception);
    } catch (const std::system_error& error) {
        link.code = error.code();
        link.message = text_of(error.what());
    } catch (const std::future_error& error) {
        link.code = error.code();
        link.message = text_of(error.what());
    } catch (const std::exception& error) {
        link.message = text_of(error.what());
    } catch (const std::error_code& code) {
        link.code = code;
        link.message = code.message();
    } catch (std::errc code) {
        link.code = std::make_error_code(code);
        link.message = link.code->message();
    } catch (const std::string& text) {
        link.message = text;
    } catch (const char* text) {
        if (text != nullptr) link.message.assign(text, ::strnlen(text, longest_char_array));
    } catch (const RetryAfter&) {
        link.message = "asked to be retried later";
    } catch (const Discard& said) {
        link.message = said.reason;
    } catch (const WorkerFatal& said) {
        link.message = said.reason;
    } catch (const Interrupted&) {
        link.message = "the stop of another attempt";
    } catch (...) {
        // A type that says nothing; its name is all there is.
    }
}

void name(Link& link) {
    try {
        std::rethrow_exception(link.exception);
    } catch (...) {
        link.type = type_name(*abi::__cxa_current_exception_type());
    }
}

Link link_of(std::exception_ptr error, const Classification& classification) {
    Link link;
    link.exception = std::move(error);
    name(link);
    read(link);
    classify(link, classification);
    return link;
}

void follow(detail::CapturedFailure& captured, std::exception_ptr error, const Classification& classification) {
    while (error) {
        const auto seen = [&](const Link& link) { return link.exception == error; };
        if (captured.links.size() == longest_chain || std::ranges::any_of(captured.links, seen)) {
            captured.truncated = true;
            return;
        }
        std::exception_ptr next = cause_of(error);
        captured.links.push_back(link_of(std::move(error), classification));
        error = std::move(next);
    }
}

Link nameless(std::string type, std::string message) {
    Link link;
    link.type = std::move(type);
    link.message = std::move(message);
    return link;
}

std::shared_ptr<const Failure> made_of(std::shared_ptr<const model::ClaimedJob> job, const RunTimes& times,
                                       std::vector<Link> links, bool truncated) {
    return std::make_shared<const Failure>(std::make_shared<const detail::CapturedFailure>(
        detail::CapturedFailure{std::move(job), times, std::move(links), truncated}));
}

// Made before main, for when there is no memory left to make one.
const std::shared_ptr<const Failure> last_resort =
    made_of(nullptr, {}, {nameless("unknown", "could not be captured")}, true);

std::exception_ptr unwrapped(std::exception_ptr thrown) noexcept {
    const auto* inner = detail::caught<std::exception_ptr>(thrown);
    if (inner == nullptr || !*inner) return thrown;
    return std::exception_ptr(*inner);
}

}  // namespace

std::shared_ptr<const Failure> capture(std::exception_ptr thrown, std::shared_ptr<const model::ClaimedJob> job,
                                       const RunTimes& times, const Classification& classification) noexcept {
    detail::CapturedFailure captured;
    try {
        follow(captured, unwrapped(std::move(thrown)), classification);
    } catch (...) {  // Out of memory, or a type that breaks the rules: what was read so far is kept.
        captured.truncated = true;
    }
    try {
        if (captured.links.empty()) captured.links.push_back(nameless("unknown", "nothing was captured"));
        return made_of(std::move(job), times, std::move(captured.links), captured.truncated);
    } catch (...) {
        return last_resort;
    }
}

std::exception_ptr timed_out(Duration limit, const std::exception_ptr& thrown) noexcept {
    try {
        const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit.microseconds());
        const std::string message = "ran longer than its limit of " + std::to_string(milliseconds.count()) + " ms";
        if (!thrown) return std::make_exception_ptr(TimedOut(message));
        try {
            std::rethrow_exception(thrown);
        } catch (...) {
            std::throw_with_nested(TimedOut(message));
        }
    } catch (...) {
        return std::current_exception();
    }
}

std::exception_ptr thread_exited() noexcept {
    return std::make_exception_ptr(ThreadExited("the handler ended its thread, by pthread_exit or a cancellation"));
}

std::shared_ptr<const Failure> without_exception(std::string_view type, std::string_view message,
                                                 std::shared_ptr<const model::ClaimedJob> job,
                                                 const RunTimes& times) noexcept {
    try {
        std::vector<Link> links;
        links.push_back(nameless(std::string(type), std::string(message)));
        return made_of(std::move(job), times, std::move(links), false);
    } catch (...) {
        return last_resort;
    }
}

}  // namespace pawl::failure
