#pragma once

#include <string>
#include <string_view>

#include <pawl/backoff.hpp>

namespace pawl::model {

// A backoff as it is stored with a job: `law [capped DURATION] [jitter]`, words separated by single or more blanks.
//
// | law                    | | jitter            |
// |------------------------|-|-------------------|
// | none                   | | no_jitter         |
// | fixed 5s               | | full              |
// | exponential 2s         | | equal             |
// | polynomial             | | up_to 0.15        |
// | list 1s 30s 5min       | | scaled 0.5 1.5    |
//
// A DURATION is a whole number and one of `us ms s min h d`. Without `capped` the cap is 24 h; without a jitter word it is
// that of the law: equal for exponential, up_to 0.15 for polynomial, otherwise none. What is printed says both, so that it
// keeps its meaning when defaults change. Printing and parsing give the same backoff back.

/// **Throws** `ConfigError` for a custom law, which is code and cannot be stored.
[[nodiscard]] std::string to_text(const Backoff& backoff);

/// **Throws** `ConfigError` for what is not in the notation.
[[nodiscard]] Backoff parse_backoff(std::string_view text);

}  // namespace pawl::model
