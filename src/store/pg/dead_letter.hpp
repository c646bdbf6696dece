#pragma once

#include <string_view>
#include <vector>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/pg/statement.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Failed jobs: looking through them, and putting them back.
class DeadLetterVerbs {
public:
    explicit DeadLetterVerbs(std::string_view schema);

    [[nodiscard]] Acted redrive(Connection& connection, Names& names, const Redrive& act) const;
    [[nodiscard]] std::vector<Redriven> redrive(Connection& connection, Names& names, const RedriveMany& act) const;
    [[nodiscard]] std::int64_t count(Connection& connection, const Filter& filter) const;
    [[nodiscard]] DeadLetterPage page(Connection& connection, const DeadLetterQuery& query) const;
    [[nodiscard]] std::vector<AttemptInfo> attempts(Connection& connection, JobId id) const;
    [[nodiscard]] std::vector<pawl::Act> acts(Connection& connection, JobId id) const;

private:
    /// One for dead letters and one for discarded jobs: each has its own index.
    struct Pair {
        Statement dead;
        Statement discarded;
        [[nodiscard]] const Statement& of(const Filter& filter) const { return filter.discarded ? discarded : dead; }
    };

    Statement redrive_one_;
    Pair redrive_many_;
    Pair count_;
    Pair page_;
    Statement attempts_;
    Statement acts_;
};

}  // namespace pawl::store::pg
