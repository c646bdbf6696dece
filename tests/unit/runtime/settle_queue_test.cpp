#include "runtime/settle_queue.hpp"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace pawl::runtime {
namespace {

Decided with_answer() {
    Decided decided;
    decided.answer = std::make_shared<Answer>();
    return decided;
}

TEST(SettleQueue, tells_those_who_wait_whether_it_was_written) {
    for (const bool applied : {true, false}) {
        SettleQueue queue;
        const Decided decided = with_answer();
        bool told = !applied;
        std::thread waiting([&] { told = queue.wait_applied(*decided.answer); });
        queue.answer(decided, applied);
        waiting.join();
        EXPECT_EQ(told, applied);
        EXPECT_EQ(queue.wait_applied(*decided.answer), applied) << "also whoever comes later";
    }
}

TEST(SettleQueue, lets_those_go_who_wait_for_what_nobody_will_know) {
    SettleQueue queue;
    const Decided unknown = with_answer();
    const Decided written = with_answer();
    bool told = true;
    std::thread waiting([&] { told = queue.wait_applied(*unknown.answer); });
    queue.answer(written, true);
    queue.open_wide();
    waiting.join();
    EXPECT_FALSE(told);
    EXPECT_TRUE(queue.wait_applied(*written.answer)) << "what is known stays known";
}

TEST(SettleQueue, needs_nobody_who_waits) {
    SettleQueue queue;
    queue.answer(Decided{}, true);
    queue.add(with_answer());
    EXPECT_EQ(queue.take(10).size(), 1U);
}

}  // namespace
}  // namespace pawl::runtime
