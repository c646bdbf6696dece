#include "store/pg/names.hpp"

#include <optional>

#include <pawl/errors.hpp>

namespace pawl::store::pg {

Names::Names(std::string_view schema)
    : kinds_{.intern = {"intern_kind", with_schema("select @schema@.intern_kind($1)", schema)},
             .look_up = {"look_up_kind", with_schema("select name from @schema@.kind where id = $1", schema)}},
      queues_{.intern = {"intern_queue", with_schema("select @schema@.intern_queue($1)", schema)},
              .look_up = {"look_up_queue", with_schema("select name from @schema@.queue where id = $1", schema)}} {}

int Names::id(Table& table, Connection& connection, std::string_view name) {
    {
        const base::MutexLock lock(mutex_);
        if (const auto known = table.ids.find(name); known != table.ids.end()) return known->second;
    }
    const int id = connection.run(table.intern, Params{}.add(name)).int32(0, 0);
    remember(table, name, id);
    return id;
}

std::string Names::name(Table& table, Connection& connection, int id) {
    {
        const base::MutexLock lock(mutex_);
        if (const auto known = table.names.find(id); known != table.names.end()) return known->second;
    }
    const Result rows = connection.run(table.look_up, Params{}.add(id));
    if (rows.empty()) {
        throw StoreError(ErrorCode::internal,
                         "a row names kind or queue " + std::to_string(id) + ", which does not exist");
    }
    std::string name = rows.string(0, 0);
    remember(table, name, id);
    return name;
}

NameIds Names::known(std::string_view kind, std::string_view queue) const {
    const base::MutexLock lock(mutex_);
    NameIds known;
    if (const auto found = kinds_.ids.find(kind); found != kinds_.ids.end()) known.kind = found->second;
    if (const auto found = queues_.ids.find(queue); found != queues_.ids.end()) known.queue = found->second;
    return known;
}

void Names::remember(Table& table, std::string_view name, int id) {
    const base::MutexLock lock(mutex_);
    table.ids.emplace(name, id);
    table.names.emplace(id, name);
}

}  // namespace pawl::store::pg
