#include "api/make_store.hpp"

#include "store/pg/pg_store.hpp"

namespace pawl::api {

std::unique_ptr<store::Store> make_store(const Options& options) {
    return store::pg::make_store(
        {.connection = options.connection, .schema = options.schema, .prepare = !options.behind_pooler});
}

}  // namespace pawl::api
