#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <pawl/pawl.hpp>

// What the shop lets be done, and what may go wrong with it.

namespace shop {

// [job]
struct ChargeCard {
    static constexpr std::string_view kind = "order_shop.charge_card";
    std::int64_t order_id{};
    std::int64_t cents{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(ChargeCard, order_id, cents)
};
// [/job]

struct PackParcel {
    static constexpr std::string_view kind = "order_shop.pack_parcel";
    std::int64_t order_id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(PackParcel, order_id)
};

struct SendReceipt {
    static constexpr std::string_view kind = "order_shop.send_receipt";
    std::int64_t order_id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(SendReceipt, order_id)
};

/// Comes and goes: worth another try, and soon.
class GatewayBusy : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

/// Final: asking again would only annoy the bank.
class CardDeclined : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

/// Nobody knows whether it heals.
class MailboxUnavailable : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

}  // namespace shop

// [mark]
template <>
struct pawl::DoNotRetry<shop::CardDeclined> : pawl::permanent<shop::CardDeclined, "declined by the issuer"> {};
// [/mark]
