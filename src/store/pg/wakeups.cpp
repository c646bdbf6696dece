#include "store/pg/wakeups.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "store/pg/connection.hpp"
#include "store/pg/listener.hpp"

namespace pawl::store::pg {
namespace {

constexpr std::string_view ready_word = "ready ";
constexpr std::string_view scheduled_word = "scheduled";
constexpr std::string_view paused_word = "paused ";
constexpr std::string_view canceled_word = "canceled ";

/// Numbers apart by one space each; none when it is anything else.
template <std::size_t N>
std::optional<std::array<std::int64_t, N>> read_numbers(std::string_view text) {
    std::array<std::int64_t, N> numbers{};
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (std::size_t i = 0; i < N; ++i) {
        if (i > 0 && (at == end || *at++ != ' ')) return std::nullopt;
        const auto [next, error] = std::from_chars(at, end, numbers.at(i));
        if (error != std::errc{}) return std::nullopt;
        at = next;
    }
    if (at != end) return std::nullopt;
    return numbers;
}

/// What nobody wrote for us is passed over: any session may notify on any channel.
void read(std::string_view payload, Wakeup& wakeup) {
    if (payload == scheduled_word) {
        wakeup.scheduled = true;
    } else if (payload.starts_with(ready_word)) {
        if (const auto numbers = read_numbers<1>(payload.substr(ready_word.size())))
            wakeup.queues.push_back(static_cast<int>(numbers->at(0)));
    } else if (payload.starts_with(paused_word)) {
        if (const auto numbers = read_numbers<1>(payload.substr(paused_word.size())))
            wakeup.paused.push_back(static_cast<int>(numbers->at(0)));
    } else if (payload.starts_with(canceled_word)) {
        if (const auto numbers = read_numbers<3>(payload.substr(canceled_word.size())))
            wakeup.canceled.push_back({numbers->at(0), {.token = numbers->at(1), .id = numbers->at(2)}});
    }
}

class PgWakeupListener : public WakeupListener {
public:
    PgWakeupListener(const std::string& conninfo, std::string_view schema)
        : listener_(conninfo, {.application_name = "pawl listener"}),
          lookup_(conninfo, {.application_name = "pawl listener"}),
          channel_{"", with_schema("select @schema@.channel()", schema)} {}

    Wakeup wait(std::chrono::milliseconds bound) override {
        if (!listener_.is_open()) {
            connect();
            return {.reconnected = true, .scheduled = true, .queues = {}, .paused = {}, .canceled = {}};
        }
        Wakeup wakeup;
        for (const Notification& notification : listener_.wait(bound)) read(notification.payload, wakeup);
        return wakeup;
    }

    void interrupt() noexcept override { listener_.interrupt(); }

private:
    void connect() {
        if (!listening_) {
            lookup_.open();
            listener_.listen(lookup_.run(channel_).text(0, 0));
            lookup_.close();
            listening_ = true;
        }
        listener_.open();
    }

    Listener listener_;
    Connection lookup_;
    Statement channel_;
    bool listening_ = false;
};

}  // namespace

std::unique_ptr<WakeupListener> listen_for_wakeups(const std::string& conninfo, std::string_view schema) {
    return std::make_unique<PgWakeupListener>(conninfo, schema);
}

}  // namespace pawl::store::pg
