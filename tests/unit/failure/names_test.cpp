#include "model/names.hpp"

#include <gtest/gtest.h>

using namespace pawl;

TEST(Names, every_word_leads_back_to_what_it_names) {
    for (int i = 0; i <= static_cast<int>(State::canceled); ++i) {
        EXPECT_EQ(model::parse_state(to_string(static_cast<State>(i))), static_cast<State>(i));
    }
    for (int i = 0; i <= static_cast<int>(Priority::lowest); ++i) {
        EXPECT_EQ(model::parse_priority(to_string(static_cast<Priority>(i))), static_cast<Priority>(i));
    }
    for (int i = 0; i <= static_cast<int>(Reason::payload); ++i) {
        EXPECT_EQ(model::parse_reason(to_string(static_cast<Reason>(i))), static_cast<Reason>(i));
    }
    for (int i = 0; i <= static_cast<int>(ErrorClass::permanent); ++i) {
        EXPECT_EQ(model::parse_error_class(to_string(static_cast<ErrorClass>(i))), static_cast<ErrorClass>(i));
    }
    for (int i = 0; i <= static_cast<int>(model::Verdict::cancel); ++i) {
        EXPECT_EQ(model::parse_verdict(to_string(static_cast<model::Verdict>(i))), static_cast<model::Verdict>(i));
    }
}

TEST(Names, an_unknown_word_names_nothing) {
    EXPECT_FALSE(model::parse_state("dead"));
    EXPECT_FALSE(model::parse_reason(""));
    EXPECT_EQ(to_string(static_cast<State>(200)), "?");
}
