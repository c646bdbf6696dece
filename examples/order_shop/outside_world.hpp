#pragma once

#include <map>
#include <mutex>
#include <stop_token>
#include <string>

namespace shop {

/// The card gateway, the warehouse and the mail server, played: each customer meets another trouble.
class OutsideWorld {
public:
    /// Busy twice for School; declines Museum's card.
    void charge(const std::string& customer);
    /// Hangs at the first call for Theater, until it is told to stop.
    void pack(const std::string& customer, const std::stop_token& stop);
    /// Does not know Library's mailbox, and never will.
    void mail(const std::string& customer);

private:
    /// Which call it is, from 1.
    int call(const std::string& what);

    std::mutex mutex_;
    std::map<std::string, int> calls_;
};

}  // namespace shop
