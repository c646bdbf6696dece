// Free functions as jobs: the arguments are stored, and checked against the signature by the compiler.

#include <cstdint>
#include <string>
#include <string_view>

#include "example.hpp"

// [task]
namespace media {

struct Size {
    int width{};
    int height{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Size, width, height)
};

std::string resize(std::string_view path, const Size& size, pawl::JobContext& context) {
    return fmt::format("{} at {}x{} by job {}", path, size.width, size.height, context.id());
}

inline constexpr pawl::Task resize_image{"media.resize", &resize};

}  // namespace media
// [/task]

namespace {

int add(int a, int b) { return a + b; }
double add(double a, double b) { return a + b; }

// [overload]
constexpr pawl::Task<double(double, double)> add_amounts{"named_functions.add", &add};
// [/overload]

}  // namespace

int main() {
    return example::run([] {
        pawl::Scheduler scheduler{
            {.connection = example::dsn(), .migrate_on_start = true, .logger = example::no_log()}};
        example::Endings endings{scheduler};

        // [enqueue]
        scheduler.on(media::resize_image).with_timeout(std::chrono::seconds(30));
        scheduler.on(add_amounts);
        scheduler.start();

        const auto resized = scheduler.enqueue(media::resize_image, "cat.png", media::Size{640, 480}).submit();
        const auto added = scheduler.enqueue(add_amounts, 1.25, 2).submit();  // 2 becomes 2.0, as in a call
        // [/enqueue]
        endings.wait_for({resized.id(), added.id()});

        // [result]
        const auto info = scheduler.find(resized.id());
        fmt::print("{} {} returned {}\n", info->kind, info->payload, info->result.value_or("nothing"));
        // [/result]
        const auto sum = scheduler.find(added.id());
        fmt::print("{} {} returned {}\n", sum->kind, sum->payload, sum->result.value_or("nothing"));

        example::expect(info->payload == R"(["cat.png", {"width": 640, "height": 480}])", "arguments are an array");
        example::expect(sum->result == "3.25", "what the function returns is the job's result");
        example::expect(add(1, 2) == 3, "the other overload is left alone");
        example::expect(scheduler.stop().clean(), "nothing is left behind");
    });
}
