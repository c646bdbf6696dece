#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// The life of a node: registering, heartbeats with a look at its own claims, and the goodbye.
class NodeVerbs {
public:
    explicit NodeVerbs(std::string_view schema);

    [[nodiscard]] NodeId register_node(Connection& connection, const Registration& node) const;
    [[nodiscard]] Pulse heartbeat(Connection& connection, const Heartbeat& beat) const;
    std::int64_t release_claims(Connection& connection, NodeId node, std::span<const ClaimToken> tokens) const;
    [[nodiscard]] std::vector<LostClaim> load_claims(Connection& connection, Names& names, NodeId node,
                                                     std::span<const ClaimToken> tokens) const;
    std::int64_t say_goodbye(Connection& connection, NodeId node) const;

private:
    Statement register_;
    Statement heartbeat_;
    Statement release_;
    Statement load_;
    Statement goodbye_;
};

}  // namespace pawl::store::pg
