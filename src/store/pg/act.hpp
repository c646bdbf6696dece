#pragma once

#include <string_view>

#include "store/pg/connection.hpp"
#include "store/pg/statement.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Acts on one job from outside, wherever it stands.
///
/// Each is one statement. One that finds nothing has proved nothing: in the middle of a move a job is in no place of a
/// snapshot. So it is repeated with a new one until the job was moved, stands where the act does not apply, or is unknown.
class ActVerbs {
public:
    explicit ActVerbs(std::string_view schema);

    [[nodiscard]] std::vector<JobId> standing(Connection& connection, const JobFilter& filter, int limit) const;
    [[nodiscard]] Acted cancel(Connection& connection, const ActOn& act) const;
    [[nodiscard]] Acted pause(Connection& connection, const ActOn& act) const;
    [[nodiscard]] Acted resume(Connection& connection, const ActOn& act) const;

private:
    Statement standing_;
    Statement cancel_;
    Statement pause_;
    Statement resume_;
};

}  // namespace pawl::store::pg
