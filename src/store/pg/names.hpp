#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "store/pg/connection.hpp"

namespace pawl::store::pg {

/// The ids of a job's names, as far as they are known.
struct NameIds {
    std::optional<int> kind{};
    std::optional<int> queue{};
};

/// The interned names of kinds and queues, as far as this process has met them. They never change.
///
/// **Threads**: safe from any thread.
class Names {
public:
    explicit Names(std::string_view schema);

    /// The id of a name, made in the database when it is new there.
    [[nodiscard]] int kind_id(Connection& connection, std::string_view name) { return id(kinds_, connection, name); }
    [[nodiscard]] int queue_id(Connection& connection, std::string_view name) { return id(queues_, connection, name); }

    /// The name of an id that stands in a row.
    [[nodiscard]] std::string kind(Connection& connection, int id) { return name(kinds_, connection, id); }
    [[nodiscard]] std::string queue(Connection& connection, int id) { return name(queues_, connection, id); }

    /// What is known without asking the database. Such names are committed there.
    [[nodiscard]] NameIds known(std::string_view kind, std::string_view queue) const;

private:
    struct Table {
        Statement intern;
        Statement look_up;
        std::map<std::string, int, std::less<>> ids{};
        std::map<int, std::string> names{};
    };

    int id(Table& table, Connection& connection, std::string_view name);
    std::string name(Table& table, Connection& connection, int id);
    void remember(Table& table, std::string_view name, int id);

    // Guards what the tables have learned; never held during a statement.
    mutable base::Mutex mutex_;
    Table kinds_;
    Table queues_;
};

}  // namespace pawl::store::pg
