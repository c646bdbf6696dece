#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pawl/fwd.hpp>
#include <pawl/job.hpp>

#include "model/step.hpp"

namespace pawl::worker {

/// Where the steps of `JobContext::once` are kept: given by the runtime, for the store is of the same rank. Null
/// transactions stand for a connection of ours.
///
/// **Threads**: called concurrently from worker threads.
class Steps {
public:
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    virtual ~Steps() = default;

    virtual model::StepBegun begin(pqxx::dbtransaction* transaction, const model::Step& step) = 0;
    /// False: the claim is over.
    virtual bool finish(pqxx::dbtransaction* transaction, const model::Step& step,
                        const std::optional<std::string>& result) = 0;
    virtual void forget(const model::Step& step) = 0;
};

}  // namespace pawl::worker
