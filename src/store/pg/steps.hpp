#pragma once

#include <string_view>

#include "store/pg/connection.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// The steps of `JobContext::once`, on a connection of ours or in the caller's transaction.
class StepVerbs {
public:
    explicit StepVerbs(std::string_view schema);

    template <class Session>
    [[nodiscard]] StepBegun begin(Session& session, const Step& step) const;
    template <class Session>
    [[nodiscard]] bool finish(Session& session, const Step& step, const std::optional<std::string>& result) const;
    void forget(Connection& connection, const Step& step) const;

    /// The run as a whole.
    [[nodiscard]] bool begin_run(Connection& connection, const model::ClaimSlot& slot) const;

private:
    Statement begin_;
    Statement take_over_;
    Statement finish_;
    Statement forget_;
    Statement begin_run_;
};

}  // namespace pawl::store::pg
