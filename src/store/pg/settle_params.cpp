#include "store/pg/settle_params.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error_json.hpp"
#include "store/pg/spans.hpp"

namespace pawl::store::pg {
namespace {

// One struct for each group of arrays in the statement: those of `ended` become rows of done, and so on.

using Text = std::optional<std::string>;
using Number = std::optional<std::int64_t>;

Text text_or_null(std::string_view text) { return text.empty() ? Text{} : Text{std::string(text)}; }

std::string_view ended_state(model::Verdict verdict) {
    switch (verdict) {
        case model::Verdict::complete:
            return "succeeded";
        case model::Verdict::cancel:
            return "canceled";
        default:
            return "failed";
    }
}

struct Given {
    std::vector<std::int64_t> tokens;
    std::vector<int> positions;
    std::vector<std::int64_t> ids;

    void add(const model::ClaimSlot& slot) {
        tokens.push_back(slot.token);
        positions.push_back(slot.position);
        ids.push_back(slot.id);
    }
    void bind(Params& params) const { params.add(tokens).add(positions).add(ids); }
};

struct Ended {
    std::vector<int> places;
    std::vector<std::string_view> states;
    std::vector<int> attempts;
    std::vector<bool> discarded;
    std::vector<std::int64_t> durations;
    std::vector<Text> reasons;
    std::vector<Text> details;
    std::vector<Text> results;
    std::vector<Text> errors;

    void add(int place, const model::Settlement& settlement, int counted_attempts) {
        const model::Decision& decision = settlement.decision;
        places.push_back(place);
        states.push_back(ended_state(decision.verdict));
        attempts.push_back(counted_attempts);
        discarded.push_back(decision.verdict == model::Verdict::discard);
        durations.push_back(storable_span(settlement.duration));
        reasons.push_back(decision.reason == Reason::none ? Text{} : text_or_null(to_string(decision.reason)));
        details.push_back(text_or_null(decision.detail));
        results.push_back(decision.result);
        errors.push_back(decision.error ? Text{model::error_json(*decision.error)} : Text{});
    }
    void bind(Params& params) const {
        params.add(places)
            .add(states)
            .add(attempts)
            .add(discarded)
            .add(durations)
            .add(reasons)
            .add(details)
            .add(results)
            .add(errors);
    }
};

struct Again {
    std::vector<int> places;
    std::vector<std::int64_t> delays;
    std::vector<Number> dues;
    std::vector<int> queues;
    std::vector<int> kinds;
    std::vector<std::int16_t> priorities;
    std::vector<int> attempts;
    std::vector<std::int16_t> crashes;
    std::vector<std::int16_t> losses;

    void add(int place, const model::Settlement& settlement, int counted_attempts, int queue) {
        const model::Decision& decision = settlement.decision;
        const model::JobFacts& facts = settlement.job->facts;
        places.push_back(place);
        delays.push_back(storable_span(decision.delay));
        // What goes back unrun keeps its turn; what ran has had it.
        const bool unrun = decision.verdict == model::Verdict::release && settlement.job->run_at != Time{};
        dues.push_back(unrun ? Number(settlement.job->run_at.time_since_epoch().count()) : Number{});
        queues.push_back(queue);
        kinds.push_back(facts.kind);
        priorities.push_back(static_cast<std::int16_t>(decision.priority.value_or(facts.priority)));
        attempts.push_back(counted_attempts);
        crashes.push_back(static_cast<std::int16_t>(facts.crashes + (decision.crashed ? 1 : 0)));
        losses.push_back(static_cast<std::int16_t>(model::losses_after(facts, decision)));
    }
    void bind(Params& params) const {
        params.add(places).add(delays).add(dues).add(queues).add(kinds);
        params.add(std::span<const std::int16_t>(priorities))
            .add(attempts)
            .add(std::span<const std::int16_t>(crashes))
            .add(std::span<const std::int16_t>(losses));
    }
};

struct Runs {
    std::vector<int> places;
    std::vector<int> attempts;
    std::vector<bool> counted;
    std::vector<Number> started;
    std::vector<std::int64_t> durations;
    std::vector<Text> classes;
    std::vector<Text> types;
    std::vector<Text> messages;
    std::vector<Text> causes;
    std::vector<std::string_view> decisions;
    std::vector<Text> reasons;
    std::vector<Text> rules;
    std::vector<std::int64_t> delays;
    std::vector<std::int64_t> jitters;

    void add(int place, const model::Settlement& settlement) {
        const model::Decision& decision = settlement.decision;
        const ErrorRecord& error = *decision.error;
        places.push_back(place);
        attempts.push_back(settlement.job->attempt());
        counted.push_back(decision.counted);
        started.push_back(settlement.started_at ? Number(settlement.started_at->time_since_epoch().count()) : Number{});
        durations.push_back(storable_span(settlement.duration));
        classes.push_back(text_or_null(to_string(error.error_class)));
        types.push_back(text_or_null(error.type));
        messages.push_back(text_or_null(error.message));
        causes.push_back(error.causes.empty() ? Text{} : Text{model::causes_json(error.causes)});
        decisions.push_back(to_string(decision.verdict));
        reasons.push_back(decision.reason == Reason::none ? Text{} : text_or_null(to_string(decision.reason)));
        rules.push_back(text_or_null(decision.rule));
        delays.push_back(storable_span(decision.delay));
        jitters.push_back(std::clamp(decision.jitter, -longest_span, longest_span).count());
    }
    void bind(Params& params) const {
        params.add(places).add(attempts).add(counted).add(started).add(durations).add(classes).add(types).add(messages);
        params.add(causes).add(decisions).add(reasons).add(rules).add(delays).add(jitters);
    }
};

struct Dead {
    std::vector<int> places;
    std::vector<int> queues;

    void add(int place, int queue) {
        places.push_back(place);
        queues.push_back(queue);
    }
    void bind(Params& params) const { params.add(places).add(queues); }
};

struct Follow {
    std::vector<int> places;
    std::vector<int> kinds;
    std::vector<int> queues;
    std::vector<std::int16_t> priorities;
    std::vector<std::string_view> payloads;

    void add(int place, const model::Settlement& settlement, int kind) {
        const model::JobFacts& facts = settlement.job->facts;
        places.push_back(place);
        kinds.push_back(kind);
        queues.push_back(facts.queue);
        priorities.push_back(static_cast<std::int16_t>(facts.priority));
        payloads.emplace_back(settlement.follow_up->payload);
    }
    void bind(Params& params) const {
        params.add(places).add(kinds).add(queues).add(std::span<const std::int16_t>(priorities)).add(payloads);
    }
};

bool goes_again(model::Verdict verdict) {
    return verdict == model::Verdict::retry_at || verdict == model::Verdict::snooze ||
           verdict == model::Verdict::release;
}

}  // namespace

Params settle_params(Connection& connection, Names& names, const Settle& batch) {
    Given given;
    Ended ended;
    Again again;
    Runs runs;
    Dead dead;
    Follow follow;
    int place = 0;
    for (const model::Settlement& settlement : batch.settlements) {
        ++place;
        const model::Decision& decision = settlement.decision;
        const model::JobFacts& facts = settlement.job->facts;
        const int attempts = facts.attempts + (decision.counted ? 1 : 0);
        given.add(settlement.job->slot);
        if (goes_again(decision.verdict)) {
            again.add(place, settlement, attempts,
                      decision.queue ? names.queue_id(connection, *decision.queue) : facts.queue);
        } else {
            ended.add(place, settlement, attempts);
        }
        if (decision.verdict == model::Verdict::dead_letter) dead.add(place, facts.queue);
        if (decision.error) runs.add(place, settlement);
        if (settlement.follow_up) follow.add(place, settlement, names.kind_id(connection, settlement.follow_up->kind));
    }
    Params params;
    params.add(batch.node).add(batch.seq);
    given.bind(params);
    ended.bind(params);
    again.bind(params);
    runs.bind(params);
    dead.bind(params);
    follow.bind(params);
    return params;
}

}  // namespace pawl::store::pg
