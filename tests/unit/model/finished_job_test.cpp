#include <string>

#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/finished_job.hpp>
#include <pawl/json.hpp>

#include "model/json_text.hpp"

namespace pawl {
namespace {

using namespace std::chrono_literals;

struct Order {
    int number{};
    std::string note;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Order, number, note)
};

FinishedJob read_back(const FinishedJob& job) { return Codec<FinishedJob>::decode(Codec<FinishedJob>::encode(job)); }

FinishedJob a_failed_job() {
    FinishedJob job;
    job.id = 4'711;
    job.kind = "billing.charge \"card\"";
    job.queue = "mail\\queue";
    job.priority = Priority::high;
    job.state = State::failed;
    job.attempts = 5;
    job.reason = Reason::rule_exhausted;
    job.discarded = true;
    job.detail = "a detail, with: {odd} [bytes] \\ \" \n \xc3\xbc";
    job.error = ErrorRecord{.type = "std::runtime_error",
                            .message = "\"result\": {\"payload\": 1}",
                            .causes = {{.type = "inner", .message = "why,"}},
                            .error_class = ErrorClass::transient,
                            .truncated = true};
    job.payload = R"({"note": "}\\\",", "list": [1, {"payload": 2}]})";
    job.tags = {"a", "b"};
    job.params = {{"payload", "no"}, {"tenant", "x"}};
    job.created_at = Time(1'000'000us);
    job.finished_at = Time(2'000'001us);
    return job;
}

TEST(FinishedJobCodec, gives_back_what_it_was_given) {
    EXPECT_EQ(read_back(a_failed_job()), a_failed_job());
    EXPECT_EQ(read_back({}), FinishedJob{});
}

TEST(FinishedJobCodec, writes_json_that_can_be_stored) {
    EXPECT_FALSE(model::check_json(Codec<FinishedJob>::encode(a_failed_job())));
    EXPECT_FALSE(model::check_json(Codec<FinishedJob>::encode({})));
    FinishedJob odd = a_failed_job();
    odd.detail = "not UTF-8: \xff\xc3";
    EXPECT_FALSE(model::check_json(Codec<FinishedJob>::encode(odd)));
}

TEST(FinishedJobCodec, keeps_payload_and_result_to_the_byte) {
    for (const std::string text : {"1.10", "123456789012345678901234567890.5", "\"a\\u00e9\\\\\"", "null", "[]", "{}",
                                   "true", "-0.0", "[1, [2, {\"a\": \",]}\"}]]", "{\"a\": \"\\\"\", \"b\": {}}"}) {
        FinishedJob job;
        job.payload = text;
        job.result = text;
        const FinishedJob read = read_back(job);
        EXPECT_EQ(read.payload, text);
        EXPECT_EQ(read.result, text);
    }
}

// As jsonb prints it: members in another order, with blanks.
TEST(FinishedJobCodec, reads_what_postgresql_makes_of_it) {
    const FinishedJob job = Codec<FinishedJob>::decode(
        R"({"id": 7, "kind": "k", "error": {"type": "E", "causes": []}, "state": "failed", "payload" : {"number": 3, "note": ""} ,
            "finished_at": 5, "somebody's \"payload\"": {"payload": 1}})");
    EXPECT_EQ(job.id, 7);
    EXPECT_EQ(job.error->type, "E");
    EXPECT_EQ(job.payload, R"({"number": 3, "note": ""})");
    EXPECT_EQ(job.payload_as<Order>().number, 3);
    EXPECT_EQ(job.finished_at, Time(5us));
}

TEST(FinishedJobCodec, refuses_what_is_no_record) {
    for (const char* text : {"", "{", "[1]", "7", R"({"id": "seven"})", R"({"tags": 3})"}) {
        EXPECT_THROW((void)Codec<FinishedJob>::decode(text), PayloadError) << text;
    }
}

}  // namespace
}  // namespace pawl
