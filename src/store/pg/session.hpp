#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "store/pg/compat.hpp"
#include "store/pg/connection.hpp"

namespace pawl::store::pg {

/// What a connection has while it is open. Seen by the sources that talk to libpqxx only.
struct Connection::Session {
    std::unique_ptr<pqxx::connection> handle;
    std::unordered_set<std::string> prepared{};
    int backend_pid = 0;
    int server_version = 0;
    bool ended = false;

    /// Runs the statement by its prepared name, preparing it first if need be. `sent` becomes true when the statement
    /// itself is on its way; preparing it writes nothing.
    pqxx::result run(pqxx::transaction_base& transaction, const Statement& statement, const Params& params,
                     bool by_name, bool& sent);
};

}  // namespace pawl::store::pg
