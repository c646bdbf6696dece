#pragma once

#include <string_view>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Writing what was decided, fenced by claim token and id.
class SettleVerbs {
public:
    explicit SettleVerbs(std::string_view schema);

    [[nodiscard]] Settled settle(Connection& connection, Names& names, const Settle& batch) const;

private:
    Statement settle_;
    Statement read_mark_;
};

}  // namespace pawl::store::pg
