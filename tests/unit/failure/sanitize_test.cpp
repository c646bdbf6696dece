#include "failure/sanitize.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/errors.hpp>

#include "unit/failure/failing_job.hpp"

using namespace pawl;
using namespace pawl::failure::testing;
using failure::sanitize_text;

namespace {

constexpr const char* hidden = "***REDACTED***";

struct Broken final : ErrorSanitizer {
    [[nodiscard]] ErrorRecord sanitize(const Failure&) const override { throw 7; }
};

struct Dirty final : ErrorSanitizer {
    [[nodiscard]] ErrorRecord sanitize(const Failure&) const override {
        ErrorRecord record;
        record.type = std::string("a\0b", 3);
        record.message = "\xE9" + std::string(1'000'000, 'x');
        record.causes.resize(1000);
        return record;
    }
};

}  // namespace

// B048, F21
TEST(Sanitize, hides_secrets_and_leaves_the_rest) {
    struct Row {
        std::string text;
        std::string shown;
    };
    const std::string h = hidden;
    const std::vector<Row> rows{
        // URLs
        {"cannot reach postgresql://app:S3cr^t$@x@db:5432/shop now",
         "cannot reach postgresql://" + h + "@db:5432/shop now"},
        {"amqp://u:p/a?s#s@host/v", "amqp://" + h + "@host/v"},
        {"redis://:pw@cache:6379", "redis://" + h + "@cache:6379"},
        {"https://ghp_abc@github.com/x", "https://" + h + "@github.com/x"},
        {"{\"url\":\"http://u:p@h/\",\"n\":1}", "{\"url\":\"http://" + h + "@h/\",\"n\":1}"},
        {"postgresql://u:pa'ss@host/db", "postgresql://" + h + "@host/db"},
        {"http://host:8080/path?x=1", "http://host:8080/path?x=1"},
        {"http://host/path:1 is gone", "http://host/path:1 is gone"},
        {"jdbc:postgresql://h/db?user=a&password=b failed", h + " failed"},
        {"GET /x?token=abc&user=bob", "GET /x?token=" + h + "&user=bob"},
        // conninfo and key-value text
        {"host=db password=S3cr^t$@x user=app", "host=db password=" + h + " user=app"},
        {"password='it\\'s me' user=app", "password='" + h + "' user=app"},
        // A quote that nobody closed pairs with the next one: what is glued to that may be a secret as well.
        {"pwd:'oops\npassword = 'S3cr^t'\nnext", "pwd:'" + h + "\nnext"},
        {"token=\"oops {\"secret\": \"S3cr^t\"}", "token=\"" + h},
        {"password = hunter2", "password = " + h},
        // One within the other.
        {"secret: h\\\n-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\nkept",
         "secret: " + h + "\nkept"},
        {"private_key=-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----", "private_key=" + h},
        {"token=secret: hunter2 kept", "token=" + h + " kept"},
        {"token=password: 'hunter2 and 3' kept", "token=" + h + "' kept"},
        {"token=['a]b', password='hunter2'] kept", "token=" + h + " kept"},
        {"PGPASSWORD=abc psql", "PGPASSWORD=" + h + " psql"},
        {"Pwd=abc;Server=x", "Pwd=" + h + ";Server=x"},
        {"aws_secret_access_key: AKzz/+", "aws_secret_access_key: " + h},
        {"api-key=1 apiKey=2 API_KEY=3", "api-key=" + h + " apiKey=" + h + " API_KEY=" + h},
        {"run --password hunter2 now", "run --password " + h + " now"},
        {"<password>hunter2</password>", "<password>" + h + "</password>"},
        {"token%3Dabc", "token%3D" + h},
        {"password=Bearer abc.def x", "password=" + h + " x"},
        // JSON
        {R"({"password":"hun\"ter2","id":1})", R"({"password":")" + h + R"(","id":1})"},
        {R"({"access_token" : "abc", "n":1})", R"({"access_token" : ")" + h + R"(", "n":1})"},
        {R"({\"password\":\"abc\",\"n\":1})", R"({\"password\":\")" + h + R"(\",\"n\":1})"},
        {R"({"secret":["a","b"],"n":1})", R"({"secret":)" + h + R"(,"n":1})"},
        // headers
        {"Authorization: Basic dXNlcjpwYXNz\nHost: x", "Authorization: " + h + "\nHost: x"},
        {"curl -H 'Authorization: Bearer abc.def' url", "curl -H 'Authorization: " + h + "' url"},
        {"sent bearer abc-def", "sent bearer " + h},
        {"sent Basic dXNlcjpwYXNz", "sent Basic " + h},
        {"got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc", "got " + h},
        {"Basic authentication failed", "Basic authentication failed"},
        // PEM, mail, cards
        {"key -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- end", "key " + h + " end"},
        {"-----BEGIN PRIVATE KEY-----\nMII", h},
        {"mail to jane.doe+x@mail.example.org. Thanks", "mail to " + h + ". Thanks"},
        {"<a@b.co>", "<" + h + ">"},
        {"user@localhost", "user@localhost"},
        {"card 4111 1111 1111 1111 declined", "card " + h + " declined"},
        {"card 4111-1111-1111-1111", "card " + h},
        {"no 12 4111111111111111 5", "no 12 " + h + " 5"},
        {"order 4111111111111112", "order 4111111111111112"},
        {"id 1234567890123456789012", "id 1234567890123456789012"},
        // no secrets
        {"password authentication failed for user app", "password authentication failed for user app"},
        {"a secret is a secret", "a secret is a secret"},
        {"", ""},
    };
    for (const Row& row : rows) EXPECT_EQ(sanitize_text(row.text), row.shown);
}

// A NUL in a key must not hide it from the search.
TEST(Sanitize, repairs_before_it_searches) {
    EXPECT_EQ(sanitize_text(std::string("pass\0word=abc", 13)), std::string("password=") + hidden);
    EXPECT_EQ(sanitize_text("pass\x1Bword=abc"), std::string("password=") + hidden);
}

// B040, B042
TEST(Sanitize, makes_a_record_that_can_be_stored) {
    const auto record =
        failure::sanitize(DefaultErrorSanitizer(), *captured(thrown(std::runtime_error("caf\xE9 \x1B[1m"))));
    EXPECT_EQ(record.type, "std::runtime_error");
    EXPECT_EQ(record.message, "caf\xEF\xBF\xBD [1m");
    EXPECT_EQ(record.error_class, ErrorClass::unknown);
    EXPECT_TRUE(record.causes.empty());
    EXPECT_FALSE(record.truncated);
}

// B051, F21
TEST(Sanitize, hides_secrets_of_every_cause) {
    const auto error = nested(std::runtime_error("outer"),
                              nested(std::runtime_error("middle"), thrown(std::runtime_error("password=hunter2"))));
    const auto record = failure::sanitize(DefaultErrorSanitizer(), *captured(error));
    ASSERT_EQ(record.causes.size(), 2U);
    EXPECT_EQ(record.causes[1].message, std::string("password=") + hidden);
}

// B044
TEST(Sanitize, bounds_every_text_and_the_causes) {
    std::exception_ptr error = thrown(std::runtime_error(std::string(10'000'000, 'x')));
    for (int depth = 0; depth < 20; ++depth) error = nested(std::runtime_error(std::string(10'000, 'y')), error);
    const auto record = failure::sanitize(DefaultErrorSanitizer(), *captured(error));
    EXPECT_EQ(record.causes.size(), 10U);
    EXPECT_TRUE(record.truncated);
    EXPECT_EQ(record.message.size(), 2000U);
    EXPECT_TRUE(record.message.ends_with("\xE2\x80\xA6"));
}

TEST(Sanitize, is_linear_in_texts_made_to_slow_it_down) {
    const auto repeated = [](std::string_view part) {
        std::string text;
        while (text.size() < 300'000) text += part;
        return text;
    };
    const auto begin = std::chrono::steady_clock::now();
    for (const char* part :
         {"x",        "a@",           "://",         "a://b:", "password", "password=", "1",          "1 ",
          "\"",       "\\",           "-----BEGIN ", "eyJ.",   "bearer ",  "{",         "a.",         "token=[",
          "\xE9",     "jdbc:",        "@",           "=",      " ",        "token=[]",  "token='a' ", "pwd:x ",
          "token='[", "secret:\"a\"", "token=token="}) {
        EXPECT_LE(sanitize_text(repeated(part)).size(), 2000U) << part;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Sanitize, hides_what_the_end_of_a_long_text_cuts) {
    const std::string text = "-----BEGIN KEY-----" + std::string(1'100'000, 'k') + "-----END KEY----- password=hunter2";
    EXPECT_EQ(sanitize_text(text), hidden);
}

TEST(Sanitize, takes_more_keys_prefixes_and_patterns) {
    const DefaultErrorSanitizer sanitizer(
        {.keys = {"Session-Id"}, .prefixes = {"sk_live_"}, .patterns = {[](std::string_view rest, char) -> std::size_t {
                                                               return rest.starts_with("#42") ? 3 : 0;
                                                           }}});
    EXPECT_EQ(sanitizer.sanitize_text("session_id=abc sk_live_1234 #42!"),
              std::string("session_id=") + hidden + " " + hidden + " " + hidden + "!");
}

TEST(Sanitize, refuses_settings_that_are_none) {
    EXPECT_THROW(DefaultErrorSanitizer({.keys = {""}}), ConfigError);
    EXPECT_THROW(DefaultErrorSanitizer({.keys = {"_-"}}), ConfigError);
    EXPECT_THROW(DefaultErrorSanitizer({.prefixes = {""}}), ConfigError);
    EXPECT_THROW(DefaultErrorSanitizer({.patterns = {nullptr}}), ConfigError);
    EXPECT_THROW(DefaultErrorSanitizer({.max_bytes = 1}), ConfigError);
    EXPECT_THROW(DefaultErrorSanitizer({.max_causes = 32}), ConfigError);
}

// F22
TEST(Sanitize, replaces_a_sanitizer_that_throws_by_the_default) {
    const auto record = failure::sanitize(Broken(), *captured(thrown(std::runtime_error("password=hunter2"))));
    EXPECT_EQ(record.message, std::string("password=") + hidden);
}

TEST(Sanitize, repairs_and_bounds_what_a_sanitizer_returns) {
    const auto record = failure::sanitize(Dirty(), *captured(thrown(7)));
    EXPECT_EQ(record.type, "ab");
    EXPECT_LE(record.message.size(), 100'000U);
    EXPECT_TRUE(record.message.starts_with("\xEF\xBF\xBD"));
    EXPECT_EQ(record.causes.size(), 31U);
    EXPECT_TRUE(record.truncated);
}
