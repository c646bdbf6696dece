#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "store/pg/connection.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// What nodes tell each other of the retries that they granted.
class RetryLoadVerb {
public:
    explicit RetryLoadVerb(std::string_view schema);

    [[nodiscard]] std::vector<KindLoad> share(Connection& connection, NodeId node, std::span<const KindLoad> own) const;

private:
    Statement share_;
};

}  // namespace pawl::store::pg
