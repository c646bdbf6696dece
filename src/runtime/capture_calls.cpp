#include "runtime/capture_calls.hpp"

#include <utility>

#include "failure/capture.hpp"

namespace pawl::runtime {

worker::CaptureCalls capture_calls(std::shared_ptr<const Classification> classification) {
    return {
        .capture =
            [classification = std::move(classification)](std::exception_ptr thrown,
                                                         std::shared_ptr<const model::ClaimedJob> job,
                                                         std::optional<Time> started_at, Time failed_at) {
                return failure::capture(std::move(thrown), std::move(job), {started_at, failed_at}, *classification);
            },
        .timed_out = failure::timed_out,
        .thread_exited = failure::thread_exited};
}

}  // namespace pawl::runtime
