#include <pawl/migrate.hpp>
#include <pawl/options.hpp>

#include "api/make_store.hpp"
#include "api/validate_options.hpp"

namespace pawl {

void migrate(const std::string& connection, std::string_view schema) {
    const Options options{.connection = connection, .schema = std::string(schema)};
    api::validate(options);
    api::make_store(options)->migrate();
}

}  // namespace pawl
