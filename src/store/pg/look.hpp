#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "store/pg/connection.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Looking at jobs without touching them; each look is one statement, so one snapshot.
class LookVerbs {
public:
    explicit LookVerbs(std::string_view schema);

    [[nodiscard]] std::optional<JobInfo> find(Connection& connection, JobId id) const;
    [[nodiscard]] std::vector<JobInfo> search(Connection& connection, const Search& wanted) const;
    [[nodiscard]] JobCounts counts(Connection& connection, std::optional<std::string_view> queue) const;
    [[nodiscard]] std::vector<Misplaced> verify(Connection& connection) const;

private:
    Statement find_;
    Statement search_;
    Statement counts_;
    Statement verify_;
};

}  // namespace pawl::store::pg
