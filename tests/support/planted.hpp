#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <spdlog/sinks/sink.h>

#include "base/mutex.hpp"

namespace pawl::tests {

/// What tests write where a secret would stand, in errors, connections and payloads.
inline constexpr std::array<std::string_view, 4> planted_secrets{"hunter2", "S3cr", "dXNlcjpwYXNz", "planted-"};

/// Lines that hold one of them.
class Leaks {
public:
    void search(std::string_view line) {
        for (const std::string_view secret : planted_secrets) {
            if (line.find(secret) == std::string_view::npos) continue;
            const base::MutexLock lock(mutex_);
            found_.emplace_back(line);
            return;
        }
    }
    [[nodiscard]] std::vector<std::string> found() {
        const base::MutexLock lock(mutex_);
        return found_;
    }

private:
    base::Mutex mutex_;
    std::vector<std::string> found_ PAWL_GUARDED_BY(mutex_);
};

/// Where a logger's lines are searched rather than kept.
class SearchedSink final : public spdlog::sinks::sink {
public:
    explicit SearchedSink(std::shared_ptr<Leaks> leaks) : leaks_(std::move(leaks)) {}

    void log(const spdlog::details::log_msg& message) override {
        leaks_->search({message.payload.data(), message.payload.size()});
    }
    void flush() override {}
    void set_pattern(const std::string& /*pattern*/) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

private:
    std::shared_ptr<Leaks> leaks_;
};

/// Fails the program, after its last test, when any log of any test held a planted secret.
class NoLeaks final : public ::testing::Environment {
public:
    explicit NoLeaks(std::shared_ptr<Leaks> leaks) : leaks_(std::move(leaks)) {}

    void TearDown() override {
        for (const std::string& line : leaks_->found()) ADD_FAILURE() << "a log line holds a planted secret: " << line;
    }

private:
    std::shared_ptr<Leaks> leaks_;
};

/// Of the whole test program.
inline const std::shared_ptr<Leaks>& leaks() {
    static const std::shared_ptr<Leaks> of_all = [] {
        auto made = std::make_shared<Leaks>();
        ::testing::AddGlobalTestEnvironment(new NoLeaks(made));  // which GoogleTest deletes
        return made;
    }();
    return of_all;
}
/// An environment counts only when it is there before the tests run.
inline const std::shared_ptr<Leaks>& leaks_from_the_start = leaks();

}  // namespace pawl::tests
