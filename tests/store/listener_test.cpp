#include "store/pg/listener.hpp"

#include <thread>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>

#include "support/database.hpp"

namespace pawl::store::pg {
namespace {

using namespace std::chrono_literals;

class ListenerTest : public tests::EmptyDatabaseTest {
protected:
    void notify(std::string_view channel, std::string_view payload) {
        sql("select pg_notify($1, $2)", Params{}.add(channel).add(payload));
    }
};

TEST_F(ListenerTest, hands_out_what_arrives_in_order) {
    Listener listener{dsn()};
    listener.listen(schema());
    listener.open();
    listener.listen("Other \"channel\"");
    notify(schema(), "a");
    notify("Other \"channel\"", "b");

    std::vector<Notification> got;
    while (got.size() < 2) {
        auto some = listener.wait(10s);
        ASSERT_FALSE(some.empty());
        got.insert(got.end(), some.begin(), some.end());
    }
    EXPECT_EQ(got[0].channel, schema());
    EXPECT_EQ(got[0].payload, "a");
    EXPECT_EQ(got[1].channel, "Other \"channel\"");
    EXPECT_EQ(got[1].payload, "b");
}

TEST_F(ListenerTest, returns_empty_when_the_time_is_over) {
    Listener listener{dsn()};
    listener.open();
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(listener.wait(30ms).empty());
    EXPECT_GE(std::chrono::steady_clock::now() - before, 30ms);
    EXPECT_TRUE(listener.wait(0ms).empty());
}

TEST_F(ListenerTest, is_interrupted_from_another_thread) {
    Listener listener{dsn()};
    listener.open();
    std::jthread other{[&] { listener.interrupt(); }};
    EXPECT_TRUE(listener.wait(1h).empty());
}

TEST_F(ListenerTest, ends_waiting_when_stop_is_requested) {
    Listener listener{dsn()};
    listener.open();
    std::stop_source stop;
    std::jthread other{[&] { stop.request_stop(); }};
    EXPECT_TRUE(listener.wait(1h, stop.get_token()).empty());
    EXPECT_TRUE(listener.wait(1h, stop.get_token()).empty());
}

TEST_F(ListenerTest, notices_a_killed_session_and_listens_again_after_open) {
    Listener listener{dsn()};
    listener.listen(schema());
    listener.open();
    kill_backend(listener.backend_pid());
    try {
        // The farewell may be read first, without an error.
        for (int i = 0; i < 3; ++i) static_cast<void>(listener.wait(10s));
        FAIL() << "the loss was not noticed";
    } catch (const StoreError& error) {
        EXPECT_TRUE(error.transient());
    }
    EXPECT_FALSE(listener.is_open());

    listener.open();
    notify(schema(), "again");
    const auto got = listener.wait(10s);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].payload, "again");
}

TEST_F(ListenerTest, refuses_a_channel_that_would_be_cut) {
    Listener listener{dsn()};
    EXPECT_THROW(listener.listen(std::string(64, 'x')), ConfigError);
    EXPECT_THROW(listener.listen(""), ConfigError);
}

}  // namespace
}  // namespace pawl::store::pg
