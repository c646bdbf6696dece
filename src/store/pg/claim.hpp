#pragma once

#include <string_view>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Taking due jobs for a node, and announcing that it found none.
class ClaimVerbs {
public:
    explicit ClaimVerbs(std::string_view schema);

    [[nodiscard]] Claimed claim(Connection& connection, Names& names, const Claim& wanted) const;
    Asleep announce_sleep(Connection& connection, const Sleep& sleep) const;
    void announce_awake(Connection& connection, NodeId node) const;

private:
    Statement claim_;
    Statement announce_sleep_;
    Statement announce_awake_;
};

}  // namespace pawl::store::pg
