#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "store/pg/connection.hpp"
#include "store/pg/names.hpp"
#include "store/pg/statement.hpp"
#include "store/store.hpp"

namespace pawl::store::pg {

/// Queues as a whole: what they are told to do, pausing them, and looking at them.
class QueueVerbs {
public:
    explicit QueueVerbs(std::string_view schema);

    void describe(Connection& connection, Names& names, std::span<const QueueFacts> queues,
                  std::span<const KindFacts> kinds) const;
    [[nodiscard]] bool pause(Connection& connection, Names& names, const ActOnQueue& act) const;
    [[nodiscard]] bool resume(Connection& connection, Names& names, const ActOnQueue& act) const;
    [[nodiscard]] std::vector<QueueInfo> list(Connection& connection) const;

private:
    Statement describe_queue_;
    Statement describe_kind_;
    Statement pause_;
    Statement resume_;
    Statement list_;
};

}  // namespace pawl::store::pg
