#include "store/pg/compat.hpp"

#include <utility>

namespace pawl::store::pg::compat {

namespace {

#if !PAWL_PQXX_AT_LEAST(7, 0)

// 6.4 takes C strings; values hold no NUL.
std::vector<const char*> pointers(const Values& values) {
    std::vector<const char*> result;
    result.reserve(values.size());
    for (const auto& value : values) result.push_back(value ? value->c_str() : nullptr);
    return result;
}

#else

pqxx::params parameters(const Values& values) {
    pqxx::params result;
    result.reserve(values.size());
    for (const auto& value : values) {
        if (value) {
            result.append(*value);
        } else {
            result.append();
        }
    }
    return result;
}

#endif

#if PAWL_PQXX_AT_LEAST(7, 10)

// Handlers are kept per channel by the connection itself, and an empty one ends the listening.
class Handler final : public Subscription {
public:
    Handler(pqxx::connection& connection, const std::string& channel, std::function<void(const std::string&)> receive)
        : connection_(connection), channel_(channel) {
        connection_.listen(channel_, [receive = std::move(receive)](const auto& notification) {
            receive(std::string{notification.payload});
        });
    }
    ~Handler() override {
        try {
            connection_.listen(channel_);
        } catch (const std::exception&) {
            // The connection is lost, and the listening with it.
        }
    }

private:
    pqxx::connection& connection_;
    std::string channel_;
};

#else

class Handler final : public Subscription, private pqxx::notification_receiver {
public:
    Handler(pqxx::connection& connection, const std::string& channel, std::function<void(const std::string&)> receive)
        : pqxx::notification_receiver(connection, channel), receive_(std::move(receive)) {}

    void operator()(const std::string& payload, int) override { receive_(payload); }

private:
    std::function<void(const std::string&)> receive_;
};

#endif

}  // namespace

std::unique_ptr<pqxx::connection> connect(const std::string& conninfo) {
    auto connection = std::make_unique<pqxx::connection>(conninfo);
#if !PAWL_PQXX_AT_LEAST(7, 0)
    // 6.4 reconnects silently, even in the middle of a transaction, unless it is told not to. Both calls are
    // deprecated there because 7 took the reconnecting away.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    connection->activate();
    connection->inhibit_reactivation(true);
#pragma GCC diagnostic pop
#endif
    return connection;
}

pqxx::result run(pqxx::transaction_base& transaction, const std::string& sql, const Values& values) {
#if !PAWL_PQXX_AT_LEAST(7, 0)
    return transaction.exec_params(sql, pqxx::prepare::make_dynamic_params(pointers(values)));
#elif !PAWL_PQXX_AT_LEAST(7, 10)
    return transaction.exec_params(sql, parameters(values));
#else
    return transaction.exec(sql, parameters(values));
#endif
}

void prepare(pqxx::connection& connection, const std::string& name, const std::string& sql) {
    connection.prepare(name, sql);
#if !PAWL_PQXX_AT_LEAST(7, 0)
    connection.prepare_now(name);
#endif
}

pqxx::result run_prepared(pqxx::transaction_base& transaction, const std::string& name, const Values& values) {
#if !PAWL_PQXX_AT_LEAST(7, 0)
    return transaction.exec_prepared(name, pqxx::prepare::make_dynamic_params(pointers(values)));
#elif !PAWL_PQXX_AT_LEAST(7, 10)
    return transaction.exec_prepared(name, parameters(values));
#else
    return transaction.exec(pqxx::prepped{name}, parameters(values));
#endif
}

void require_open(pqxx::transaction_base& transaction) { transaction.exec(""); }

std::string client_encoding(pqxx::transaction_base& transaction) { return transaction.conn().get_client_encoding(); }

std::unique_ptr<Subscription> listen(pqxx::connection& connection, const std::string& channel,
                                     std::function<void(const std::string& payload)> receive) {
    return std::make_unique<Handler>(connection, channel, std::move(receive));
}

Failure current_failure() {
    // By class first: 6.4 gives conflicts no SQLSTATE and does not derive them from sql_error, and up to 7.10
    // insufficient_privilege has an empty one.
    try {
        throw;
    } catch (const pqxx::too_many_connections& error) {
        return {Kind::connection_lost, "53300", error.what()};
    } catch (const pqxx::broken_connection& error) {
        return {Kind::connection_lost, {}, error.what()};
    } catch (const pqxx::in_doubt_error& error) {
        return {Kind::commit_in_doubt, {}, error.what()};
    } catch (const pqxx::deadlock_detected& error) {
        return {Kind::sql, "40P01", error.what()};
    } catch (const pqxx::serialization_failure& error) {
        return {Kind::sql, "40001", error.what()};
    } catch (const pqxx::statement_completion_unknown& error) {
        return {Kind::sql, "40003", error.what()};
    } catch (const pqxx::transaction_rollback& error) {
        return {Kind::sql, "40000", error.what()};
    } catch (const pqxx::insufficient_privilege& error) {
        return {Kind::sql, "42501", error.what()};
    } catch (const pqxx::sql_error& error) {
        return {Kind::sql, std::string(error.sqlstate()), error.what()};
    } catch (const pqxx::usage_error& error) {
        return {Kind::misuse, {}, error.what()};
    } catch (const std::exception& error) {
        return {Kind::other, {}, error.what()};
    }
}

}  // namespace pawl::store::pg::compat
