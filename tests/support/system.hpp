#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include <spdlog/logger.h>

#include <pawl/options.hpp>
#include <pawl/scheduler.hpp>

#include "support/database.hpp"
#include "support/jobs.hpp"
#include "support/planted.hpp"

namespace pawl::tests {

/// A test of whole schedulers on a schema of its own.
class SystemTest : public DatabaseTest {
protected:
    using DatabaseTest::DatabaseTest;

    /// Of this test's schema: four threads, quick to connect anew; its log is searched for planted secrets.
    [[nodiscard]] Options options() const {
        Options options{.connection = dsn(), .schema = schema()};
        options.queues = {{"default", 4}};
        options.reconnect = {.first = std::chrono::milliseconds(5), .longest = std::chrono::milliseconds(50)};
        options.backoff = Backoff::none();
        options.logger = std::make_shared<spdlog::logger>("searched", std::make_shared<SearchedSink>(leaks()));
        options.logger->set_level(spdlog::level::trace);
        return options;
    }

    /// Polls until a job stands there.
    [[nodiscard]] static bool reaches(Scheduler& scheduler, JobId id, State state) {
        return eventually([&] {
            const auto job = scheduler.find(id);
            return job && job->state == state;
        });
    }

    /// The number that a query gives.
    [[nodiscard]] std::int64_t number(std::string_view query) { return sql(query).int64(0, 0); }
};

}  // namespace pawl::tests
