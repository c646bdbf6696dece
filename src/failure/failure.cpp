#include <algorithm>
#include <iterator>
#include <utility>

#include <pawl/failure.hpp>

#include "failure/captured.hpp"

namespace pawl {

Failure::Failure(std::shared_ptr<const detail::CapturedFailure> captured, std::size_t first) noexcept
    : captured_(std::move(captured)), first_(std::min(first, captured_->links.size() - 1)) {}

// Only the failure of last resort has no job.
JobId Failure::job_id() const noexcept { return captured_->job ? captured_->job->slot.id : JobId{}; }
std::string_view Failure::kind() const noexcept { return captured_->job ? captured_->job->kind : std::string_view(); }
std::string_view Failure::queue() const noexcept { return captured_->job ? captured_->job->queue : std::string_view(); }
std::string_view Failure::payload() const noexcept {
    return captured_->job ? captured_->job->payload : std::string_view();
}
int Failure::attempt() const noexcept { return captured_->job ? captured_->job->attempt() : 1; }
std::optional<Time> Failure::started_at() const noexcept { return captured_->times.started_at; }
Time Failure::failed_at() const noexcept { return captured_->times.failed_at; }

std::string_view Failure::type() const noexcept { return captured_->links[first_].type; }
std::string_view Failure::message() const noexcept { return captured_->links[first_].message; }
std::optional<std::error_code> Failure::error_code() const noexcept { return captured_->links[first_].code; }

ErrorClass Failure::error_class() const noexcept {
    const auto decides = [](const failure::Link& link) {
        return link.error_class != ErrorClass::unknown || link.class_is_final;
    };
    const auto last = failure::last_link(*this);
    const auto found = std::find_if(failure::first_link(*this), last, decides);
    return found == last ? ErrorClass::unknown : found->error_class;
}

std::size_t Failure::causes() const noexcept { return captured_->links.size() - first_ - 1; }

Failure Failure::cause(std::size_t index) const noexcept {
    return Failure(captured_, first_ + std::min(index, captured_->links.size()) + 1);
}

bool Failure::truncated() const noexcept { return captured_->truncated; }

const std::exception_ptr& Failure::exception() const noexcept { return captured_->links[first_].exception; }

bool Failure::any(const detail::TypeMatch& match) const noexcept {
    return std::any_of(failure::first_link(*this), failure::last_link(*this),
                       [&](const failure::Link& link) { return match.catches(link.exception); });
}

std::vector<failure::Link>::const_iterator failure::first_link(const Failure& failure) noexcept {
    return std::next(failure.captured_->links.begin(), static_cast<std::ptrdiff_t>(failure.first_));
}

std::vector<failure::Link>::const_iterator failure::last_link(const Failure& failure) noexcept {
    return failure.captured_->links.end();
}

}  // namespace pawl
