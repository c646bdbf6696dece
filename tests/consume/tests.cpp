// The tests of a consumer, built against what pawl gives them.

#include <pawl/testing.hpp>

struct Hello {
    static constexpr std::string_view kind = "hello";
};

int main() {
    const pawl::testing::PrivatePostgres postgres;
    pawl::Scheduler scheduler{{.connection = postgres.dsn(), .schema = postgres.schema(), .migrate_on_start = true}};
    scheduler.on<Hello>([](const Hello&) {});
    pawl::testing::drain(scheduler);
    scheduler.enqueue(Hello{}).submit();
    if (!pawl::testing::expect_enqueued<Hello>(scheduler, 1)) return 1;
    return pawl::testing::drain(scheduler) == 1 ? 0 : 2;
}
