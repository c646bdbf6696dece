// Compiled and linked at configure time, never run.

#ifdef PAWL_PQXX_BUILT_AS_CXX17
#include "pqxx_built_as_cxx17.hpp"
#endif

#include <pqxx/pqxx>

int main(int argc, char** argv) {
    pqxx::connection connection{argv[argc - 1]};
    pqxx::work transaction{connection};
    const pqxx::result result = transaction.exec("select 1");
    transaction.commit();
    return result[0][0].as<int>();
}
