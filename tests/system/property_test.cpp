// Tens of thousands of jobs, each with its script of what its runs throw, through a whole scheduler. Where each of them ends is
// foretold twice: by a model that is written here, from the table in docs/failure.md, and by Scheduler::explain, which asks the
// code that decides. The seed is printed; PAWL_TEST_SEED repeats a run.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <pawl/pawl.hpp>

#include "support/system.hpp"

class ScriptBusy : public std::runtime_error {
    using runtime_error::runtime_error;
};
class ScriptGone : public std::runtime_error {
    using runtime_error::runtime_error;
};
class ScriptDeclined : public std::runtime_error {
    using runtime_error::runtime_error;
};
PAWL_DO_NOT_RETRY(ScriptDeclined, "declined for good");

namespace pawl {
namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

constexpr int total = sanitized ? 5'000 : 50'000;

/// What one run of a script does.
enum class Step {
    succeed,
    busy,             // a rule of the kind `ruled` retries it; elsewhere its class is unknown
    busy_within,      // the same as a cause
    gone,             // a rule of `ruled` discards it
    declined,         // marked as not to be retried
    declined_within,  // the same as a cause
    invalid,          // permanent
    denied,           // permanent by its code
    reset,            // transient by its code
    unknown,
    number,  // no std::exception
    snooze,
    retry_after,
    cancel,
    discard,
};
constexpr int steps = static_cast<int>(Step::discard) + 1;

void act(Step step) {
    switch (step) {
        case Step::succeed:
            return;
        case Step::busy:
            throw ScriptBusy("busy");
        case Step::busy_within:
            try {
                throw ScriptBusy("busy");
            } catch (...) {
                std::throw_with_nested(std::runtime_error("calling"));
            }
        case Step::gone:
            throw ScriptGone("gone");
        case Step::declined:
            throw ScriptDeclined("declined");
        case Step::declined_within:
            try {
                throw ScriptDeclined("declined");
            } catch (...) {
                std::throw_with_nested(std::runtime_error("paying"));
            }
        case Step::invalid:
            throw std::invalid_argument("invalid");
        case Step::denied:
            throw std::system_error(std::make_error_code(std::errc::permission_denied), "denied");
        case Step::reset:
            throw std::system_error(std::make_error_code(std::errc::connection_reset), "reset");
        case Step::unknown:
            throw std::runtime_error("what is this?");
        case Step::number:
            throw 42;
        case Step::snooze:
            throw Snooze{0s};
        case Step::retry_after:
            throw RetryAfter{.delay = 0s};
        case Step::cancel:
            throw Cancel{"not wanted any more"};
        case Step::discard:
            throw Discard{"not worth it"};
    }
}

std::exception_ptr thrown_by(Step step) {
    try {
        act(step);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

struct Script {
    int number{};
    std::vector<int> steps;
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Script, number, steps)
};
struct Plain : Script {
    static constexpr std::string_view kind = "script.plain";
};
struct Ruled : Script {
    static constexpr std::string_view kind = "script.ruled";
};
struct Planned : Script {
    static constexpr std::string_view kind = "script.planned";
};

constexpr int default_retries = 4;
constexpr int rule_attempts = 3;
constexpr int plan_retries = 2;

struct Fate {
    State state{State::pending};
    Reason reason{Reason::none};
    bool discarded{};
    int attempts{};
    /// Rows in the history of the job.
    int errors{};

    friend bool operator==(const Fate&, const Fate&) = default;
};

std::ostream& operator<<(std::ostream& out, const Fate& fate) {
    return out << to_string(fate.state) << " " << to_string(fate.reason) << (fate.discarded ? " discarded" : "")
               << ", attempts " << fate.attempts << ", errors " << fate.errors;
}

struct Story {
    std::string kind;
    std::vector<Step> script;
    std::optional<int> max_retries;

    [[nodiscard]] bool is(std::string_view name) const { return kind == name; }
};

/// The model: the table, by hand.
Fate foretell(const Story& story) {
    Fate fate;
    int rule_count = 0;
    const auto fail = [&](Reason reason, bool counted, bool discarded = false) {
        fate.state = State::failed;
        fate.reason = reason;
        fate.discarded = discarded;
        if (counted) ++fate.attempts;
    };
    for (std::size_t run = 0;; ++run) {
        const Step step = run < story.script.size() ? story.script[run] : Step::succeed;
        const int attempt = fate.attempts + 1;
        const bool out_of_own_retries = story.max_retries && attempt > *story.max_retries;
        const bool out_of_retries = attempt > story.max_retries.value_or(default_retries);
        if (step == Step::succeed) {
            fate.state = State::succeeded;
            return fate;
        }
        if (step == Step::snooze) continue;
        if (step == Step::cancel) {
            fate.state = State::canceled;
            return fate;
        }
        ++fate.errors;
        if (step == Step::discard) {
            fail(Reason::discarded, false, true);
            return fate;
        }
        if (step == Step::retry_after) {
            if (out_of_retries) {
                fail(Reason::exhausted, true);
                return fate;
            }
            ++fate.attempts;
            continue;
        }
        const bool ruled = story.is(Ruled::kind);
        if (ruled && step == Step::gone) {
            fail(Reason::discarded, true, true);
            return fate;
        }
        if (step == Step::declined || step == Step::declined_within) {
            fail(Reason::do_not_retry, false);
            return fate;
        }
        if (ruled && (step == Step::busy || step == Step::busy_within)) {
            if (++rule_count >= rule_attempts) {
                fail(Reason::rule_exhausted, true);
                return fate;
            }
            if (out_of_own_retries) {
                fail(Reason::exhausted, true);
                return fate;
            }
            ++fate.attempts;
            continue;
        }
        if (step == Step::invalid || step == Step::denied) {
            fail(Reason::permanent, false);
            return fate;
        }
        if (story.is(Planned::kind)) {
            if (attempt > plan_retries) {
                fail(Reason::plan, true);
                return fate;
            }
            if (out_of_own_retries) {
                fail(Reason::exhausted, true);
                return fate;
            }
        } else if (out_of_retries) {
            fail(Reason::exhausted, true);
            return fate;
        }
        ++fate.attempts;
    }
}

/// The code that decides, asked run by run.
Fate explained(const Scheduler& scheduler, const Story& story) {
    Fate fate;
    std::map<std::string, int> rule_counts;
    for (std::size_t run = 0;; ++run) {
        const Step step = run < story.script.size() ? story.script[run] : Step::succeed;
        if (step == Step::succeed) {
            fate.state = State::succeeded;
            return fate;
        }
        const Explanation what = scheduler.explain(
            story.kind, thrown_by(step),
            {.attempt = fate.attempts + 1, .rule_counts = rule_counts, .max_retries = story.max_retries});
        if (what.error) ++fate.errors;
        if (what.counted) {
            ++fate.attempts;
            if (!what.rule.empty()) ++rule_counts[what.rule];
        }
        if (what.becomes == State::pending) continue;
        fate.state = what.becomes;
        fate.reason = what.reason;
        fate.discarded = what.discarded;
        return fate;
    }
}

class Property : public tests::SystemTest {
protected:
    static std::uint64_t seed() {
        const char* const given = std::getenv("PAWL_TEST_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }
};

template <class Job>
Job job_of(const Story& story, int number) {
    Job job;
    job.number = number;
    for (const Step step : story.script) job.steps.push_back(static_cast<int>(step));
    return job;
}

// The fate of every job is what the table says, to the last attempt.
// P1, P2, P19, P21, P23, R1, A1
TEST_F(Property, every_job_ends_as_the_table_foretells) {  // B018
    const std::uint64_t seed = this->seed();
    SCOPED_TRACE("PAWL_TEST_SEED=" + std::to_string(seed));
    RecordProperty("seed", std::to_string(seed));
    std::printf("PAWL_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); };

    Options setup = options();
    setup.queues = {{"default", 8}};
    setup.backoff = Backoff::none();
    Scheduler scheduler{setup};

    const auto runs = std::make_unique<std::array<std::atomic<std::uint8_t>, total>>();
    const auto run = [&](const Script& script) {
        const std::size_t at = runs->at(static_cast<std::size_t>(script.number)).fetch_add(1);
        if (at < script.steps.size()) act(static_cast<Step>(script.steps[at]));
    };
    scheduler.on<Plain>([&](const Plain& job) { run(job); });
    scheduler.on<Ruled>([&](const Ruled& job) { run(job); })
        .retry_on<ScriptBusy>({.attempts = rule_attempts, .wait = 0s, .jitter = 0.0})
        .discard_on<ScriptGone>();
    scheduler.on<Planned>([&](const Planned& job) { run(job); }).retry_with([](const Failure&) {
        return RetryPlan{.retries = plan_retries};
    });

    std::vector<Story> stories;
    std::vector<JobId> ids;
    std::vector<Plain> plain;
    std::vector<Ruled> ruled;
    std::vector<Planned> planned;
    const std::array<std::string_view, 3> kinds{Plain::kind, Ruled::kind, Planned::kind};
    // In groups that share their options, so that they are enqueued in bulk.
    while (static_cast<int>(stories.size()) < total) {
        Story story;
        story.kind = kinds.at(static_cast<std::size_t>(below(3)));
        if (below(3) == 0) story.max_retries = below(6);
        plain.clear();
        ruled.clear();
        planned.clear();
        for (int i = 0; i < 250 && static_cast<int>(stories.size()) < total; ++i) {
            story.script.clear();
            // Mostly what goes on, or no script would come far.
            for (int length = below(8); length > 0; --length) {
                constexpr std::array<Step, 6> going_on{Step::busy,    Step::busy_within, Step::reset,
                                                       Step::unknown, Step::number,      Step::retry_after};
                story.script.push_back(below(3) > 0 ? going_on.at(static_cast<std::size_t>(below(6)))
                                                    : static_cast<Step>(below(steps)));
            }
            const int number = static_cast<int>(stories.size());
            if (story.is(Plain::kind)) plain.push_back(job_of<Plain>(story, number));
            if (story.is(Ruled::kind)) ruled.push_back(job_of<Ruled>(story, number));
            if (story.is(Planned::kind)) planned.push_back(job_of<Planned>(story, number));
            stories.push_back(story);
        }
        const EnqueueOptions how{.max_retries = story.max_retries};
        for (const auto& more : {scheduler.enqueue_many(plain, how), scheduler.enqueue_many(ruled, how),
                                 scheduler.enqueue_many(planned, how)})
            ids.insert(ids.end(), more.begin(), more.end());
    }
    ASSERT_EQ(ids.size(), stories.size());

    scheduler.start();
    const auto until = std::chrono::steady_clock::now() + 240s;
    while (number("select (select count(*) from @schema@.ready) + (select count(*) from @schema@.scheduled) "
                  "+ (select count(*) from @schema@.claim)") > 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), until) << "not all jobs have ended";
    }
    scheduler.stop();

    std::map<JobId, Fate> fates;
    const auto rows = sql(R"(
        select d.id, d.state::text, coalesce(d.reason, 'none'), d.discarded, d.attempts,
               (select count(*) from @schema@.attempt a where a.id = d.id)
        from @schema@.done d)");
    const auto word = [](std::string_view text, auto last) {
        using Enum = decltype(last);
        for (int i = 0; i <= static_cast<int>(last); ++i) {
            if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
        }
        throw std::logic_error("no such word: " + std::string(text));
    };
    for (std::size_t row = 0; row < rows.size(); ++row) {
        fates[rows.int64(row, 0)] = {word(rows.text(row, 1), State::canceled), word(rows.text(row, 2), Reason::payload),
                                     rows.boolean(row, 3), rows.int32(row, 4), rows.int32(row, 5)};
    }
    ASSERT_EQ(fates.size(), ids.size());

    std::map<std::string, int> seen;
    int wrong = 0;
    for (std::size_t i = 0; i < ids.size() && wrong < 10; ++i) {
        const Fate& fate = fates.at(ids[i]);
        const Fate foretold = foretell(stories[i]);
        const Fate asked = explained(scheduler, stories[i]);
        ++seen[std::string(to_string(foretold.state)) + " " + std::string(to_string(foretold.reason))];
        if (fate == foretold && fate == asked) continue;
        ++wrong;
        std::string script;
        for (const Step step : stories[i].script) script += std::to_string(static_cast<int>(step)) + " ";
        ADD_FAILURE() << stories[i].kind << " with max_retries "
                      << (stories[i].max_retries ? std::to_string(*stories[i].max_retries) : "of its kind")
                      << ", script " << script << ":\n  ended " << fate << "\n  table " << foretold << "\n  asked "
                      << asked;
    }
    // The scripts have met every end that there is for them.
    for (const char* end : {"succeeded none", "canceled none", "failed do_not_retry", "failed permanent",
                            "failed discarded", "failed plan", "failed rule_exhausted", "failed exhausted"})
        EXPECT_GT(seen[end], 0) << end;
    EXPECT_EQ(number("select count(*) from @schema@.verify()"), 0);
}

}  // namespace
}  // namespace pawl
