#include "outside_world.hpp"

#include <condition_variable>

#include "jobs.hpp"

namespace shop {

void OutsideWorld::charge(const std::string& customer) {
    const int nth = call("charge " + customer);
    if (customer == "School" && nth <= 2) throw GatewayBusy("503 from the card gateway");
    if (customer == "Museum") throw CardDeclined("51 insufficient funds, card 4111 1111 1111 1111");
}

void OutsideWorld::pack(const std::string& customer, const std::stop_token& stop) {
    if (customer != "Theater" || call("pack " + customer) > 1) return;
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait(lock, stop, [] { return false; });
}

void OutsideWorld::mail(const std::string& customer) {
    if (customer == "Library") throw MailboxUnavailable("550 no mailbox library@example.org here");
}

int OutsideWorld::call(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return ++calls_[what];
}

}  // namespace shop
