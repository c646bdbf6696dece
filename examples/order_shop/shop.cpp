#include "shop.hpp"

#include <chrono>
#include <utility>

namespace shop {

using namespace std::chrono_literals;

namespace {

// Handlers run side by side and a pqxx connection is not shared between threads: each takes its own. A real shop has a pool.
std::string customer_of(const std::string& dsn, std::int64_t order_id) {
    pqxx::connection connection{dsn};
    pqxx::work tx{connection};
    const auto rows = tx.exec("select customer from order_shop.orders where id = " + std::to_string(order_id));
    return rows[0][0].as<std::string>();
}

void set_state(pqxx::work& tx, std::int64_t order_id, const char* state) {
    tx.exec("update order_shop.orders set state = " + tx.quote(state) + " where id = " + std::to_string(order_id));
}

}  // namespace

Shop::Shop(std::string dsn, pawl::Scheduler& scheduler, OutsideWorld& world)
    : dsn_(std::move(dsn)), scheduler_(scheduler), world_(world) {
    pqxx::connection connection{dsn_};
    pqxx::work tx{connection};
    tx.exec("set local client_min_messages = error");
    tx.exec("create schema if not exists order_shop");
    tx.exec(
        "create table if not exists order_shop.orders (id bigint generated always as identity primary key, "
        "customer text not null, item text not null, cents bigint not null, state text not null default 'new')");
    tx.commit();

    // [handlers]
    scheduler_.on<ChargeCard>(*this, &Shop::charge).retry_on<GatewayBusy>({.attempts = 5, .wait = 300ms});
    scheduler_.on<PackParcel>(*this, &Shop::pack).with_timeout(500ms).with_backoff(200ms);
    scheduler_.on<SendReceipt>(*this, &Shop::send_receipt).with_max_retries(2).with_backoff(300ms);
    // [/handlers]
}

// [place_order]
Order Shop::place_order(const std::string& customer, const std::string& item, std::int64_t cents,
                        bool changes_her_mind) {
    pqxx::connection connection{dsn_};
    pqxx::work tx{connection};
    const auto rows = tx.exec("insert into order_shop.orders (customer, item, cents) values (" + tx.quote(customer) +
                              ", " + tx.quote(item) + ", " + std::to_string(cents) + ") returning id");
    const Order order{rows[0][0].as<std::int64_t>(), customer, item, cents};
    const auto job = scheduler_.enqueue(ChargeCard{order.id, cents}).with_tags({"payment"}).submit(tx);
    if (changes_her_mind) return order;  // rolled back: no order, no job

    remember(job.id(), customer);
    tx.commit();
    return order;
}
// [/place_order]

// [charge]
void Shop::charge(const ChargeCard& job, pawl::JobContext&) {
    const std::string customer = customer_of(dsn_, job.order_id);
    world_.charge(customer);

    // What follows from the payment is stored together with it. A job may run twice, so this asks what is there.
    pqxx::connection connection{dsn_};
    pqxx::work tx{connection};
    const auto charged =
        tx.exec("update order_shop.orders set state = 'paid' where id = " + std::to_string(job.order_id) +
                " and state = 'new'");
    if (charged.affected_rows() == 0) return;
    remember(scheduler_.enqueue(PackParcel{job.order_id}).submit(tx).id(), customer);
    remember(scheduler_.enqueue(SendReceipt{job.order_id}).submit(tx).id(), customer);
    tx.commit();
}
// [/charge]

void Shop::pack(const PackParcel& job, pawl::JobContext& context) {
    world_.pack(customer_of(dsn_, job.order_id), context.stop_token());
    context.throw_if_stopped();

    pqxx::connection connection{dsn_};
    pqxx::work tx{connection};
    set_state(tx, job.order_id, "packed");
    tx.commit();
}

void Shop::send_receipt(const SendReceipt& job, pawl::JobContext&) { world_.mail(customer_of(dsn_, job.order_id)); }

std::map<pawl::JobId, std::string> Shop::jobs() const {
    const std::lock_guard lock(mutex_);
    return jobs_;
}

// Before the commit, because the job may run right after it.
void Shop::remember(pawl::JobId job, const std::string& customer) {
    const std::lock_guard lock(mutex_);
    jobs_.emplace(job, customer);
}

}  // namespace shop
