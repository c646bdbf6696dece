#include "store/pg/lost_claims.hpp"

#include <map>

#include "store/pg/job_rows.hpp"

namespace pawl::store::pg {

std::vector<LostClaim> read_lost_claims(const Result& rows, int first, NodeId node, Names& names,
                                        Connection& connection) {
    std::map<ClaimToken, NodeId> lost_by;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!rows.is_null(row, first)) lost_by.emplace(rows.int64(row, first + 1), rows.int64(row, first));
    }
    std::map<ClaimToken, LostClaim> by_token;
    for (auto& job : read_jobs(rows, first + 1, node, names, connection)) {
        LostClaim& claim = by_token[job->slot.token];
        claim.from = lost_by[job->slot.token];
        claim.jobs.push_back(std::move(job));
    }
    std::vector<LostClaim> claims;
    claims.reserve(by_token.size());
    for (auto& [token, claim] : by_token) claims.push_back(std::move(claim));
    return claims;
}

}  // namespace pawl::store::pg
