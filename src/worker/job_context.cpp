#include "worker/job_context.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <pawl/control.hpp>
#include <pawl/job_context.hpp>

namespace pawl {

JobId JobContext::id() const noexcept { return run_.job.slot.id; }

const std::string& JobContext::kind() const noexcept { return run_.job.kind; }

const std::string& JobContext::queue() const noexcept { return run_.job.queue; }

int JobContext::attempt() const noexcept { return run_.job.attempt(); }

int JobContext::max_retries() const noexcept { return run_.max_retries; }

const std::map<std::string, std::string>& JobContext::params() const noexcept { return run_.job.params; }

std::optional<std::string_view> JobContext::param(std::string_view name) const noexcept {
    // At most 20 of them, and the map's own look-up would build a string.
    const auto is_it = [name](const auto& param) { return param.first == name; };
    const auto& all = run_.job.params;
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    if (found == all.end()) return std::nullopt;
    return found->second;
}

const std::vector<std::string>& JobContext::tags() const noexcept { return run_.job.tags; }

Time JobContext::created_at() const noexcept { return run_.job.created_at; }

Time JobContext::run_at() const noexcept { return run_.job.run_at; }

Time JobContext::started_at() const noexcept { return run_.started_at; }

std::stop_token JobContext::stop_token() const noexcept { return run_.stop.stop_token(); }

void JobContext::throw_if_stopped() const {
    if (run_.stop.reason() == worker::StopReason::none) return;
    throw Interrupted{claim_token(), id()};
}

std::optional<std::chrono::steady_clock::time_point> JobContext::deadline() const noexcept { return run_.deadline; }

std::optional<std::chrono::microseconds> JobContext::remaining() const noexcept {
    if (!run_.deadline) return std::nullopt;
    const auto left = *run_.deadline - std::chrono::steady_clock::now();
    return std::max(std::chrono::duration_cast<std::chrono::microseconds>(left), std::chrono::microseconds::zero());
}

std::string JobContext::connection_options() const {
    const auto left = remaining();
    if (!left) return {};
    // The server takes an int; more is no limit worth naming.
    const auto most = std::chrono::milliseconds(std::numeric_limits<std::int32_t>::max());
    const auto limit =
        std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(*left), std::chrono::milliseconds(1), most);
    return "options='-c statement_timeout=" + std::to_string(limit.count()) + "'";
}

ClaimToken JobContext::claim_token() const noexcept { return run_.job.slot.token; }

spdlog::logger& JobContext::logger() const noexcept { return run_.logger; }

}  // namespace pawl
