#pragma once

#include <string_view>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Taking one job that may have taken its process down before.
class ClaimSuspectVerb {
public:
    explicit ClaimSuspectVerb(std::string_view schema);

    [[nodiscard]] Claimed claim(Connection& connection, Names& names, const ClaimSuspect& wanted) const;

private:
    Statement claim_;
};

}  // namespace pawl::store::pg
