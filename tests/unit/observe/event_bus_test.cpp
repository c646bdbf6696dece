#include "observe/event_bus.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <cxxabi.h>

#include <gtest/gtest.h>

#include "support/captured_log.hpp"
#include "support/signal.hpp"

namespace {

using namespace std::chrono_literals;
using pawl::Event;
using pawl::EventsDropped;
using pawl::JobStarted;
using pawl::JobSucceeded;
using pawl::MisbehavingHook;
using pawl::Subscription;
using pawl::observe::EventBus;
using pawl::tests::CapturedLog;
using pawl::tests::Signal;

class FixedClock final : public pawl::Clock {
public:
    [[nodiscard]] pawl::Time now() const override { return pawl::Time{std::chrono::seconds(1)}; }
};

class EventBusTest : public testing::Test {
protected:
    explicit EventBusTest(std::size_t capacity = 10'000)
        : bus({.capacity = capacity}, std::make_shared<FixedClock>(), captured.log()) {}

    void publish_started(pawl::JobId id) { bus.publish(JobStarted{{.id = id}}); }

    CapturedLog captured;
    EventBus bus;
};

class SmallEventBusTest : public EventBusTest {
protected:
    SmallEventBusTest() : EventBusTest(3) {}
};

TEST_F(EventBusTest, brings_events_in_order_to_those_who_listen_to_their_type) {
    std::vector<pawl::JobId> heard;
    int others = 0;
    const auto started = bus.subscribe<JobStarted>([&](const JobStarted& e) { heard.push_back(e.id); });
    const auto succeeded = bus.subscribe<JobSucceeded>([&](const JobSucceeded&) { ++others; });
    bus.start();
    for (pawl::JobId id = 1; id <= 500; ++id) publish_started(id);
    ASSERT_TRUE(bus.wait_delivered(10s));
    ASSERT_EQ(heard.size(), 500u);
    for (std::size_t i = 0; i < heard.size(); ++i) EXPECT_EQ(heard[i], static_cast<pawl::JobId>(i + 1));
    EXPECT_EQ(others, 0);
}

TEST_F(EventBusTest, wants_only_what_somebody_listens_to) {
    EXPECT_FALSE(bus.wanted<JobStarted>());
    auto subscription = bus.subscribe<JobStarted>([](const JobStarted&) {});
    EXPECT_TRUE(bus.wanted<JobStarted>());
    EXPECT_FALSE(bus.wanted<JobSucceeded>());
    subscription.end();
    EXPECT_FALSE(bus.wanted<JobStarted>());
}

TEST_F(EventBusTest, delivers_at_stop_what_was_published_before) {
    int heard = 0;
    const auto subscription = bus.subscribe<JobStarted>([&](const JobStarted&) { ++heard; });
    for (int i = 0; i < 200; ++i) publish_started(i);
    bus.start();
    EXPECT_TRUE(bus.stop(10s));
    EXPECT_EQ(heard, 200);
    publish_started(1);
    EXPECT_EQ(heard, 200);
}

TEST_F(SmallEventBusTest, drops_the_oldest_and_tells_how_many) {
    std::vector<pawl::JobId> heard;
    std::int64_t dropped = 0;
    const auto started = bus.subscribe<JobStarted>([&](const JobStarted& e) { heard.push_back(e.id); });
    const auto told = bus.subscribe<EventsDropped>([&](const EventsDropped& e) { dropped += e.count; });
    for (pawl::JobId id = 1; id <= 10; ++id) publish_started(id);
    bus.start();
    ASSERT_TRUE(bus.wait_delivered(10s));
    EXPECT_EQ(heard, (std::vector<pawl::JobId>{8, 9, 10}));
    EXPECT_EQ(dropped, 7);
}

TEST_F(SmallEventBusTest, never_lets_a_blocked_listener_block_the_publisher) {
    Signal entered;
    Signal go;
    const auto subscription = bus.subscribe<JobStarted>([&](const JobStarted&) {
        entered.raise();
        EXPECT_TRUE(go.wait());
    });
    bus.start();
    publish_started(1);
    ASSERT_TRUE(entered.wait());
    for (int i = 0; i < 1000; ++i) publish_started(i);
    go.raise();
    EXPECT_TRUE(bus.wait_delivered(10s));
    EXPECT_LE(entered.raised(), 4);
}

TEST_F(EventBusTest, contains_a_listener_that_throws) {  // B190
    int heard = 0;
    std::vector<std::string> misbehaving;
    const auto bad = bus.subscribe<JobStarted>([](const JobStarted&) { throw std::runtime_error("secret"); });
    const auto good = bus.subscribe<JobStarted>([&](const JobStarted&) { ++heard; });
    const auto hooks = bus.subscribe<MisbehavingHook>([&](const MisbehavingHook& e) {
        misbehaving.push_back(e.where);
        throw 42;
    });
    bus.start();
    publish_started(1);
    publish_started(2);
    ASSERT_TRUE(bus.stop(10s));
    EXPECT_EQ(heard, 2);
    EXPECT_EQ(misbehaving, (std::vector<std::string>{"listener of JobStarted", "listener of JobStarted"}));
    EXPECT_EQ(captured.text().find("secret"), std::string::npos);
}

TEST_F(EventBusTest, ends_a_subscription_only_when_its_callback_has_returned) {
    Signal entered;
    Signal go;
    std::atomic<bool> running{false};
    auto alive = std::make_shared<int>(1);
    std::optional<Subscription> subscription{bus.subscribe<JobStarted>([&, alive](const JobStarted&) {
        running = true;
        entered.raise();
        EXPECT_TRUE(go.wait());
        running = false;
    })};
    bus.start();
    publish_started(1);
    ASSERT_TRUE(entered.wait());
    std::thread releases([&] { go.raise(); });
    subscription.reset();
    EXPECT_FALSE(running);
    EXPECT_EQ(alive.use_count(), 1);
    releases.join();
}

TEST_F(EventBusTest, lets_a_callback_end_its_own_subscription) {
    int heard = 0;
    Subscription subscription;
    subscription = bus.subscribe<JobStarted>([&](const JobStarted&) {
        ++heard;
        subscription.end();
        ++heard;
    });
    publish_started(1);
    publish_started(2);
    bus.start();
    ASSERT_TRUE(bus.wait_delivered(10s));
    EXPECT_EQ(heard, 2);
}

TEST_F(EventBusTest, lets_a_listener_subscribe_publish_and_stop) {
    Signal heard;
    std::optional<Subscription> inner;
    const auto outer = bus.subscribe<JobStarted>([&](const JobStarted&) {
        inner = bus.subscribe<JobSucceeded>([&](const JobSucceeded&) {
            heard.raise();
            EXPECT_FALSE(bus.stop(10s));
        });
        bus.publish(JobSucceeded{});
    });
    bus.start();
    publish_started(1);
    ASSERT_TRUE(heard.wait());
    EXPECT_TRUE(bus.stop(10s));
}

TEST(EventBus, may_go_before_its_subscriptions) {
    const CapturedLog captured;
    std::optional<EventBus> bus{std::in_place, EventBus::Options{}, std::make_shared<FixedClock>(), captured.log()};
    const auto subscription = bus->subscribe<JobStarted>([](const JobStarted&) {});
    bus->start();
    bus.reset();
}

TEST_F(EventBusTest, leaves_a_listener_that_does_not_come_back) {
    // What an abandoned listener touches must outlive the bus.
    struct Shared {
        Signal entered, go, left;
    };
    const auto shared = std::make_shared<Shared>();
    std::optional<Subscription> subscription{bus.subscribe<JobStarted>([shared](const JobStarted&) {
        shared->entered.raise();
        EXPECT_TRUE(shared->go.wait());
        shared->left.raise();
    })};
    bus.start();
    publish_started(1);
    publish_started(2);
    ASSERT_TRUE(shared->entered.wait());
    EXPECT_FALSE(bus.stop(1ms));
    shared->go.raise();
    EXPECT_TRUE(shared->left.wait());
    subscription.reset();
    EXPECT_EQ(shared->entered.raised(), 1);
}

template <std::size_t... Position>
void compare_names(std::index_sequence<Position...>) {
    const auto compare = []<class E>(const E& event) {
        int status = 0;
        char* const text = abi::__cxa_demangle(typeid(E).name(), nullptr, nullptr, &status);
        EXPECT_EQ("pawl::" + std::string(pawl::name_of(event)), text);
        std::free(text);
    };
    (compare(std::variant_alternative_t<Position, Event>{}), ...);
}

TEST(Events, are_named_as_their_types) { compare_names(std::make_index_sequence<pawl::detail::event_types>{}); }

}  // namespace
