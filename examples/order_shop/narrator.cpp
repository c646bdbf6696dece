#include "narrator.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <pqxx/pqxx>

namespace shop {
namespace {

std::string_view words(std::string_view kind) {
    if (kind == ChargeCard::kind) return "charge the card";
    if (kind == PackParcel::kind) return "pack the parcel";
    return "send the receipt";
}

/// A result as a table whose columns are as wide as they need to be.
void print(const std::string& title, const pqxx::result& rows) {
    using Row = pqxx::result::size_type;
    using Column = pqxx::row::size_type;
    std::vector<std::size_t> widths;
    for (Column column = 0; column < rows.columns(); ++column) {
        std::size_t width = std::string_view(rows.column_name(column)).size();
        for (Row row = 0; row < rows.size(); ++row) {
            width = std::max(width, std::string_view(rows[row][column].c_str()).size());
        }
        widths.push_back(width);
    }
    fmt::print("\n{}\n", title);
    const auto line = [&](const auto& text_of) {
        std::string text;
        for (Column column = 0; column < rows.columns(); ++column) {
            text += fmt::format("  {:<{}}", text_of(column), widths[static_cast<std::size_t>(column)]);
        }
        fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
    };
    line([&](Column column) { return std::string(rows.column_name(column)); });
    line([&](Column column) { return std::string(widths[static_cast<std::size_t>(column)], '-'); });
    for (Row row = 0; row < rows.size(); ++row) {
        line([&](Column column) { return std::string(rows[row][column].c_str()); });
    }
}

}  // namespace

Narrator::Narrator(pawl::Scheduler& scheduler, const Shop& shop)
    : shop_(shop),
      succeeded_(
          scheduler.on_event<pawl::JobSucceeded>([this](const pawl::JobSucceeded& event) { ended(event, "done"); })),
      retrying_(scheduler.on_event<pawl::JobRetrying>([this](const pawl::JobRetrying& event) {
          tell(event, fmt::format("failed, again in {} ms: {}: {}", event.delay.count() / 1000, event.record.type,
                                  event.record.message));
      })),
      dead_(scheduler.on_event<pawl::JobDlq>([this](const pawl::JobDlq& event) {
          ended(event, fmt::format("failed for good ({}): {}: {}", pawl::to_string(event.reason), event.record.type,
                                   event.record.message));
      })) {}

bool Narrator::wait_for_endings(int jobs) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(12), [&] { return ended_ >= jobs; });
}

void Narrator::tell(const pawl::JobEvent& event, const std::string& what) {
    const auto jobs = shop_.jobs();
    const auto customer = jobs.find(event.id);
    if (customer == jobs.end()) return;  // left over by an earlier run
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun_;
    fmt::print("  {:5.2f} s  {}  {:<16}  run {}  {}\n", since.count(), customer->second, words(event.kind),
               event.attempt, what);
}

void Narrator::ended(const pawl::JobEvent& event, const std::string& what) {
    tell(event, what);
    const std::lock_guard lock(mutex_);
    if (shop_.jobs().contains(event.id)) ++ended_;
    changed_.notify_all();
}

void print_tables(const std::string& dsn, const Shop& shop) {
    std::string ids = "0";
    std::string whose = "(0::bigint, '')";
    for (const auto& [id, customer] : shop.jobs()) {
        ids += fmt::format(", {}", id);
        whose += fmt::format(", ({}, '{}')", id, customer);
    }
    pqxx::connection connection{dsn};
    pqxx::work tx{connection};
    const std::string orders_of_this_run =
        "(select (payload ->> 'order_id')::bigint from pawl.jobs where id in (" + ids + "))";

    print("The orders:",
          tx.exec("select id as \"order\", customer, item, to_char(cents / 100.0, '999990.00') as amount, state "
                  "from order_shop.orders where id in " +
                  orders_of_this_run + " order by id"));
    print("Their jobs (select … from pawl.jobs):",
          tx.exec("select j.id as job, w.customer, split_part(j.kind, '.', 2) as kind, j.state, "
                  "j.attempts as counted_failures, coalesce(j.reason, '') as reason "
                  "from pawl.jobs j join (values " +
                  whose + ") w (id, customer) using (id) order by w.customer, j.id"));
    print(
        "The dead letters (… where state = 'failed' and not discarded):",
        tx.exec("select id as job, reason, coalesce(detail, '') as detail, error ->> 'message' as error from pawl.jobs "
                "where state = 'failed' and not discarded and id in (" +
                ids + ") order by id"));
}

}  // namespace shop
