#pragma once

// The one door to libpqxx. It gives the rest of the store the same few calls on libpqxx 6.4, 7.8, 7.9, 7.10 and 8,
// each of which does something differently. Everything else of libpqxx that the store uses (`result`, `work`,
// `nontransaction`, plain `exec`, `is_open`, `sock`, `get_notifs`) is the same in all of them.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#define PAWL_PQXX_AT_LEAST(major, minor) \
    (PQXX_VERSION_MAJOR > (major) || (PQXX_VERSION_MAJOR == (major) && PQXX_VERSION_MINOR >= (minor)))

namespace pawl::store::pg::compat {

/// Parameters as text; none is SQL's null.
using Values = std::vector<std::optional<std::string>>;

/// Connects at once, and for good: what this returns never reconnects by itself.
[[nodiscard]] std::unique_ptr<pqxx::connection> connect(const std::string& conninfo);

/// Runs one statement through the extended protocol, also without parameters: it refuses several statements in one
/// string, and its failure leaves the transaction object alone in every version.
pqxx::result run(pqxx::transaction_base& transaction, const std::string& sql, const Values& values);

/// Prepares on the server at once. Preparing a name twice is an error in some versions.
void prepare(pqxx::connection& connection, const std::string& name, const std::string& sql);
pqxx::result run_prepared(pqxx::transaction_base& transaction, const std::string& name, const Values& values);

/// Throws what libpqxx throws unless the transaction is open. On 6.4 it also begins a transaction that was only
/// announced: parameterised statements alone would run outside of it.
void require_open(pqxx::transaction_base& transaction);

/// The client_encoding of the transaction's connection, as it is set now. Asks no server.
[[nodiscard]] std::string client_encoding(pqxx::transaction_base& transaction);

/// Listening to one channel, until destroyed.
class Subscription {
public:
    Subscription() = default;
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    virtual ~Subscription() = default;
};

[[nodiscard]] std::unique_ptr<Subscription> listen(pqxx::connection& connection, const std::string& channel,
                                                   std::function<void(const std::string& payload)> receive);

/// The kinds of exception that libpqxx throws, by class where versions leave the SQLSTATE out.
enum class Kind { connection_lost, commit_in_doubt, sql, misuse, other };

struct Failure {
    Kind kind = Kind::other;
    std::string sqlstate;
    std::string message;
};

/// Tells what is being handled; call it in a catch block.
[[nodiscard]] Failure current_failure();

}  // namespace pawl::store::pg::compat
