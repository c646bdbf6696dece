#include "store/pg/wakeups.hpp"

#include <charconv>

#include "store/pg/connection.hpp"
#include "store/pg/listener.hpp"

namespace pawl::store::pg {
namespace {

constexpr std::string_view ready_word = "ready ";
constexpr std::string_view scheduled_word = "scheduled";

/// What nobody wrote for us is passed over: any session may notify on any channel.
void read(std::string_view payload, Wakeup& wakeup) {
    if (payload == scheduled_word) {
        wakeup.scheduled = true;
    } else if (payload.starts_with(ready_word)) {
        int queue = 0;
        const char* const end = payload.data() + payload.size();
        if (std::from_chars(payload.data() + ready_word.size(), end, queue).ptr == end) wakeup.queues.push_back(queue);
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
            return {.reconnected = true, .scheduled = true, .queues = {}};
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
