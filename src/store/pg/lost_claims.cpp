#include "store/pg/lost_claims.hpp"

#include "store/pg/job_rows.hpp"

namespace pawl::store::pg {

std::vector<LostClaim> read_lost_claims(const Result& rows, int first, NodeId node, Names& names,
                                        Connection& connection) {
    auto jobs = read_jobs(rows, first + 3, node, names, connection);
    std::vector<LostClaim> claims;
    // Without any, there is one row of nulls.
    for (std::size_t row = 0; row < jobs.size(); ++row) {
        const ClaimToken token = jobs[row]->slot.token;
        if (claims.empty() || claims.back().token != token) claims.push_back({token, rows.int64(row, first), {}});
        claims.back().jobs.push_back({.job = std::move(jobs[row]),
                                      .alone = rows.boolean(row, first + 1),
                                      .begun = rows.boolean(row, first + 2)});
    }
    return claims;
}

}  // namespace pawl::store::pg
