#pragma once

#include <string_view>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// What some node must do now and then, whichever it is: rescue, promotion, purging, room for new ids.
class UpkeepVerbs {
public:
    explicit UpkeepVerbs(std::string_view schema);

    [[nodiscard]] Rescued rescue(Connection& connection, Names& names, const Rescue& round) const;
    [[nodiscard]] Promoted promote(Connection& connection, int limit) const;
    [[nodiscard]] std::int64_t make_due(Connection& connection) const;
    [[nodiscard]] Purged purge(Connection& connection, const Purge& round) const;
    void make_room(Connection& connection) const;
    void forget_nodes(Connection& connection) const;

private:
    Statement rescue_;
    Statement promote_;
    Statement make_due_;
    Statement purge_;
    Statement short_lock_wait_;
    Statement make_room_;
    Statement forget_nodes_;
};

}  // namespace pawl::store::pg
