#include "store/pg/conninfo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pawl/errors.hpp>

namespace pawl::store::pg {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Conninfo, adds_defaults_that_notice_a_lost_server) {
    const Conninfo conninfo{"postgresql://u@db.example:5433/shop"};
    for (const char* word : {"connect_timeout='5'", "keepalives='1'", "keepalives_idle='10'", "keepalives_interval='5'",
                             "keepalives_count='3'", "tcp_user_timeout='15000'", "application_name='pawl'",
                             "client_encoding='UTF8'", "host='db.example'", "port='5433'", "dbname='shop'"}) {
        EXPECT_THAT(conninfo.text(), HasSubstr(word));
    }
}

TEST(Conninfo, keeps_what_was_given_but_for_the_encoding) {
    const Conninfo conninfo{"host=h connect_timeout=60 application_name=shop client_encoding=LATIN1"};
    EXPECT_THAT(conninfo.text(), HasSubstr("connect_timeout='60'"));
    EXPECT_THAT(conninfo.text(), HasSubstr("application_name='shop'"));
    EXPECT_THAT(conninfo.text(), HasSubstr("client_encoding='UTF8'"));
}

TEST(Conninfo, quotes_values_for_libpq) {
    const Conninfo conninfo{R"(password='it\'s a \\ pass')"};
    EXPECT_THAT(conninfo.text(), HasSubstr(R"(password='it\'s a \\ pass')"));
}

// B048
TEST(Conninfo, never_shows_a_password) {
    const std::string plain = "S3cr^t$@x";
    const std::string encoded = "S3cr%5Et%24%40x";
    const std::string strings[] = {
        "postgresql://u:" + encoded + "@127.0.0.1:1/shop",
        "host=127.0.0.1 port=1 user=u password=" + plain,
        "postgresql://u:" + plain + "@127.0.0.1:1/shop",  // not encoded
        "host=127.0.0.1 pasword=" + plain,                // no such key
        "host=127.0.0.1 password='" + plain,              // no end
        "postgresql://u:" + plain + "@[::1:5432/shop",
        "just words " + plain,
    };
    for (const auto& text : strings) {
        std::string shown = redacted(text);
        try {
            shown += Conninfo{text}.redacted();
        } catch (const ConfigError& error) {
            shown += error.what();
            EXPECT_EQ(error.field(), "connection");
        }
        EXPECT_THAT(shown, Not(HasSubstr("S3cr"))) << text;
        EXPECT_THAT(shown, Not(HasSubstr("t$@x"))) << text;
    }
}

TEST(Conninfo, masks_the_password_in_a_message) {
    const Conninfo conninfo{"postgresql://u:S3cr%5Et%24%40x@h/shop"};
    EXPECT_EQ(conninfo.masked("tried S3cr^t$@x twice: S3cr^t$@x"), "tried ***REDACTED*** twice: ***REDACTED***");
}

TEST(Conninfo, refuses_a_nul_byte) { EXPECT_THROW(Conninfo(std::string_view("host=a\0b", 8)), ConfigError); }

}  // namespace
}  // namespace pawl::store::pg
