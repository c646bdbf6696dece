#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include <pawl/pawl.hpp>

#include "jobs.hpp"
#include "outside_world.hpp"

namespace shop {

struct Order {
    std::int64_t id{};
    std::string customer;
    std::string item;
    std::int64_t cents{};
};

/// A shop with a table of orders and three kinds of jobs. The orders and their jobs change in the same transactions.
class Shop {
public:
    Shop(std::string dsn, pawl::Scheduler& scheduler, OutsideWorld& world);

    /// Stores an order and the job that charges it; or neither, when the customer changes its mind before the commit.
    Order place_order(const std::string& customer, const std::string& item, std::int64_t cents,
                      bool changes_her_mind = false);

    /// All jobs that were enqueued and committed, and whose order each belongs to.
    [[nodiscard]] std::map<pawl::JobId, std::string> jobs() const;

private:
    void charge(const ChargeCard& job, pawl::JobContext& context);
    void pack(const PackParcel& job, pawl::JobContext& context);
    void send_receipt(const SendReceipt& job, pawl::JobContext& context);

    void remember(pawl::JobId job, const std::string& customer);

    const std::string dsn_;
    pawl::Scheduler& scheduler_;
    OutsideWorld& world_;
    mutable std::mutex mutex_;
    std::map<pawl::JobId, std::string> jobs_;
};

}  // namespace shop
