#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/control.hpp>
#include <pawl/errors.hpp>

#include "unit/failure/failing_job.hpp"

using namespace pawl;
using namespace pawl::failure::testing;

namespace {

struct Flaky : std::invalid_argument {
    using invalid_argument::invalid_argument;
};

ErrorClass class_of(std::exception_ptr error, const Classification& classification = {}) {
    return captured(std::move(error), classification)->error_class();
}

std::exception_ptr coded(std::errc code) { return thrown(std::system_error(std::make_error_code(code))); }

}  // namespace

// P1, P2
TEST(Classify, knows_the_built_in_types_and_codes) {
    struct Row {
        std::exception_ptr error;
        ErrorClass expected;
    };
    const std::vector<Row> rows{
        {thrown(std::invalid_argument("")), ErrorClass::permanent},
        {thrown(std::domain_error("")), ErrorClass::permanent},
        {thrown(std::length_error("")), ErrorClass::permanent},
        {thrown(std::out_of_range("")), ErrorClass::permanent},
        {thrown(std::bad_variant_access()), ErrorClass::permanent},
        {thrown(std::bad_optional_access()), ErrorClass::permanent},
        {thrown(std::bad_function_call()), ErrorClass::permanent},
        {thrown(PermanentError("")), ErrorClass::permanent},
        {thrown(Flaky("")), ErrorClass::permanent},
        {thrown(TransientError("")), ErrorClass::transient},
        {thrown(TimedOut("")), ErrorClass::transient},
        {thrown(StoreError(ErrorCode::store_unavailable, "", {.transient = true})), ErrorClass::transient},
        {thrown(StoreError(ErrorCode::store_rejected, "")), ErrorClass::unknown},
        {thrown(PayloadError("")), ErrorClass::unknown},
        {thrown(ThreadExited("")), ErrorClass::unknown},
        {thrown(std::logic_error("")), ErrorClass::unknown},  // F20
        {thrown(std::runtime_error("")), ErrorClass::unknown},
        {thrown(std::bad_alloc()), ErrorClass::unknown},
        {thrown(7), ErrorClass::unknown},
        {coded(std::errc::permission_denied), ErrorClass::permanent},
        {coded(std::errc::operation_not_permitted), ErrorClass::permanent},
        {coded(std::errc::no_such_file_or_directory), ErrorClass::unknown},
        {thrown(std::make_error_code(std::errc::broken_pipe)), ErrorClass::transient},
    };
    for (const Row& row : rows) EXPECT_EQ(class_of(row.error), row.expected) << captured(row.error)->type();

    for (const auto code : {std::errc::connection_refused, std::errc::connection_reset, std::errc::connection_aborted,
                            std::errc::timed_out, std::errc::host_unreachable, std::errc::network_down,
                            std::errc::network_reset, std::errc::network_unreachable, std::errc::no_buffer_space,
                            std::errc::resource_unavailable_try_again, std::errc::device_or_resource_busy,
                            std::errc::too_many_files_open, std::errc::interrupted, std::errc::broken_pipe}) {
        EXPECT_EQ(class_of(coded(code)), ErrorClass::transient) << std::make_error_code(code).message();
    }
}

TEST(Classify, takes_the_first_known_class_of_the_chain_from_the_top) {
    const auto unknown = std::runtime_error("");
    EXPECT_EQ(class_of(nested(unknown, thrown(std::invalid_argument("")))), ErrorClass::permanent);
    EXPECT_EQ(class_of(nested(unknown, nested(TransientError(""), thrown(std::invalid_argument(""))))),
              ErrorClass::transient);
    EXPECT_EQ(class_of(nested(std::invalid_argument(""), thrown(TransientError("")))), ErrorClass::permanent);
    EXPECT_EQ(class_of(nested(PayloadError(""), thrown(std::out_of_range("")))), ErrorClass::unknown);
}

TEST(Classify, asks_what_is_registered_first_and_the_last_registered_first_of_all) {
    struct Local {};
    Classification classification;
    classification.classify_as_permanent<Local, int>().classify_as_transient<Flaky>();
    EXPECT_EQ(class_of(thrown(Local{}), classification), ErrorClass::permanent);
    EXPECT_EQ(class_of(thrown(7), classification), ErrorClass::permanent);
    EXPECT_EQ(class_of(thrown(Flaky("")), classification), ErrorClass::transient);
    EXPECT_EQ(class_of(nested(Flaky(""), thrown(7)), classification), ErrorClass::transient);
    classification.classify_as_permanent<Flaky>();
    EXPECT_EQ(class_of(thrown(Flaky("")), classification), ErrorClass::permanent);
}

TEST(Classify, lets_the_list_of_permanent_types_be_replaced) {
    Classification classification;
    classification.replace_permanent_types<std::runtime_error>();
    EXPECT_EQ(class_of(thrown(std::invalid_argument("")), classification), ErrorClass::unknown);
    EXPECT_EQ(class_of(thrown(std::runtime_error("")), classification), ErrorClass::permanent);
    classification.replace_permanent_types<>();
    EXPECT_EQ(class_of(thrown(std::runtime_error("")), classification), ErrorClass::unknown);
}

TEST(Classify, asks_predicates_over_codes_and_contains_what_they_throw) {
    Classification classification;
    classification.classify_codes([](const std::error_code& code) -> std::optional<ErrorClass> {
        if (code == std::errc::no_space_on_device) return ErrorClass::transient;
        return std::nullopt;
    });
    EXPECT_EQ(class_of(coded(std::errc::no_space_on_device), classification), ErrorClass::transient);
    EXPECT_EQ(class_of(coded(std::errc::permission_denied), classification), ErrorClass::permanent);
    classification.classify_codes([](const std::error_code&) -> std::optional<ErrorClass> { throw 7; });
    EXPECT_EQ(class_of(coded(std::errc::no_space_on_device), classification), ErrorClass::transient);
    EXPECT_THROW(classification.classify_codes(nullptr), ConfigError);
}
