#include "store/pg/dead_letter.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "model/error_json.hpp"
#include "model/names.hpp"
#include "store/pg/act_answer.hpp"
#include "store/pg/job_info.hpp"
#include "store/pg/spans.hpp"

namespace pawl::store::pg {
namespace {

// $1 kind, $2 queue, $3 tags, $4 error type, $5 reason, $6 part of the message, $7 $8 created after and before, $9 $10 failed after
// and before, $11 $12 attempts at least and at most; all may be null. Uses done_dead_letter or done_discarded, job_pkey.
constexpr std::string_view failed_jobs = R"(
from @schema@.done d
join @schema@.job j on j.id = d.id
where d.state = 'failed'
  and @discarded@
  and ($1::text is null or j.kind = (select id from @schema@.kind where name = $1))
  and ($2::text is null or j.queue = (select id from @schema@.queue where name = $2))
  and ($3::text[] is null or j.tags @> $3)
  and ($4::text is null or d.error ->> 'type' = $4)
  and ($5::text is null or d.reason = $5)
  and ($6::text is null or position($6 in d.error ->> 'message') > 0)
  and ($7::bigint is null or j.created_at >= timestamptz 'epoch' + $7 * interval '1 microsecond')
  and ($8::bigint is null or j.created_at < timestamptz 'epoch' + $8 * interval '1 microsecond')
  and ($9::bigint is null or d.finished_at >= timestamptz 'epoch' + $9 * interval '1 microsecond')
  and ($10::bigint is null or d.finished_at < timestamptz 'epoch' + $10 * interval '1 microsecond')
  and ($11::integer is null or d.attempts >= $11)
  and ($12::integer is null or d.attempts <= $12))";

constexpr std::string_view count_head = "select count(*)";

// $13 $14 time and id of the last one of the page before, or null, $15 limit
constexpr std::string_view page_head = R"(
with chosen as materialized (
    select d.id)";
constexpr std::string_view page_tail = R"(
      and ($13::bigint is null or (d.finished_at, d.id) < (timestamptz 'epoch' + $13 * interval '1 microsecond', $14::bigint))
    order by d.finished_at desc, d.id desc
    limit $15
))";
constexpr std::string_view page_from = R"(, f.detail, f.runbook
from (
    select j.id, k.name as kind, q.name as queue, j.priority as level, d.state, d.attempts, j.max_retries,
           j.payload::text as payload, j.tags, j.params, j.created_at, null::timestamptz as run_at, d.finished_at, d.duration,
           d.result::text as result, d.reason, d.discarded, d.error, d.detail, coalesce(k.runbook, q.runbook) as runbook
    from chosen c
    join @schema@.done d on d.id = c.id
    join @schema@.job j on j.id = c.id
    join @schema@.kind k on k.id = j.kind
    join @schema@.queue q on q.id = j.queue
) f
order by f.finished_at desc, f.id desc)";

// $13 limit. What somebody else is putting back is passed over, so that two at a time share the work.
constexpr std::string_view chosen_head = R"(
with chosen as materialized (
    select c.id, row_number() over (order by c.finished_at, c.id) - 1 as nth
    from (
        select d.id, d.finished_at)";
constexpr std::string_view chosen_tail = R"(
        order by d.finished_at, d.id
        limit $13
        for update of d skip locked
    ) c
),)";

constexpr std::string_view chosen_one = R"(
with chosen as (
    select $1 as id, 0 as nth
),)";

// Puts the chosen ones back, locked in the order of their ids. Attempts and crashes begin anew; so do the counts of rules, which
// leave out what is marked as redriven. The rows of their runs stay.
constexpr std::string_view redriven = R"(
locked as materialized (
    select d.id, c.nth
    from @schema@.done d
    join chosen c on c.id = d.id
    where d.state = 'failed'
    order by d.id
    for update of d
), moved as (
    delete from @schema@.done d
    using locked l
    where d.id = l.id
    returning d.id, l.nth, 0 as attempts
), history as (
    update @schema@.attempt
    set redriven = true
    where id = any (array(select id from moved))
      and not redriven
), again as materialized (
    select m.id, coalesce(@queue@::integer, j.queue) as queue, j.kind, coalesce(@priority@::smallint, j.priority) as priority,
           @wait@::bigint + m.nth * @spacing@::bigint as later,
           (select clock_timestamp()) + (@wait@::bigint + m.nth * @spacing@::bigint) * interval '1 microsecond' as run_at
    from moved m
    join @schema@.job j on j.id = m.id
), due_now as (
    insert into @schema@.ready (first_id, run_at, queue, kind, priority)
    select id, run_at, queue, kind, priority
    from again
    where later <= 0
), due_later as (
    insert into @schema@.scheduled (first_id, run_at, queue, kind, priority)
    select id, run_at, queue, kind, priority
    from again
    where later > 0
), noted as (
    insert into @schema@.act (job, verb, by, why)
    select id, 'redrive', @by@, @why@
    from moved
))";

constexpr std::string_view redriven_jobs = R"(
select id, kind, queue
from again
order by id)";

// $1 id. Uses attempt_id.
constexpr std::string_view attempts_sql = R"(
select attempt, counted, redriven,
       jsonb_build_object('type', type, 'message', message, 'class', class, 'causes', causes)::text, decision, reason, rule,
       (extract(epoch from delay) * 1000000)::bigint, (extract(epoch from jitter) * 1000000)::bigint, node,
       (extract(epoch from started_at) * 1000000)::bigint, (extract(epoch from finished_at) * 1000000)::bigint,
       (extract(epoch from duration) * 1000000)::bigint
from @schema@.attempt
where id = $1
order by finished_at)";

// $1 id. Uses act_job.
constexpr std::string_view acts_sql = R"(
select (extract(epoch from at) * 1000000)::bigint, verb, by, why
from @schema@.act
where job = $1
order by id)";

struct Places {
    std::string_view wait, queue, priority, spacing, by, why;
};

std::string redrive_sql(const Places& at) {
    std::string text(redriven);
    replace(text, "@wait@", at.wait);
    replace(text, "@queue@", at.queue);
    replace(text, "@priority@", at.priority);
    replace(text, "@spacing@", at.spacing);
    replace(text, "@by@", at.by);
    replace(text, "@why@", at.why);
    return text;
}

std::string redrive_one_sql() {
    std::string sql(chosen_one);
    sql += redrive_sql(
        {.wait = "$4", .queue = "$5", .priority = "$6", .spacing = "0", .by = "$2::text", .why = "$3::text"});
    sql += act_answer;
    replace(sql, "@also@", "");
    replace(sql, "$1", "$1::bigint");
    return sql;
}

std::string redrive_many_sql() {
    std::string sql(chosen_head);
    sql += failed_jobs;
    sql += chosen_tail;
    sql += redrive_sql(
        {.wait = "$14", .queue = "$15", .priority = "$16", .spacing = "$17", .by = "$18::text", .why = "$19::text"});
    sql += redriven_jobs;
    return sql;
}

std::string page_sql() {
    std::string sql(page_head);
    sql += failed_jobs;
    sql += page_tail;
    sql += job_info_columns;
    sql += page_from;
    return sql;
}

/// Planned for its values each time: what a filter leaves open decides how it is best answered.
Statement unprepared(std::string sql, std::string_view discarded, std::string_view schema) {
    replace(sql, "@discarded@", discarded);
    return {"", with_schema(sql, schema)};
}

std::optional<int> level_or_null(const std::optional<Priority>& priority) {
    return priority ? std::optional(static_cast<int>(*priority)) : std::nullopt;
}

std::optional<int> queue_or_null(Connection& connection, Names& names, const std::optional<std::string_view>& queue) {
    return queue ? std::optional(names.queue_id(connection, *queue)) : std::nullopt;
}

Params params_of(const Filter& filter) {
    Params params;
    params.add(filter.kind).add(filter.queue);
    if (filter.tags.empty()) {
        params.add_null();
    } else {
        params.add(filter.tags);
    }
    params.add(filter.error_type);
    params.add(filter.reason ? std::optional(to_string(*filter.reason)) : std::nullopt);
    params.add(filter.error_contains);
    params.add(time_or_null(filter.created_after)).add(time_or_null(filter.created_before));
    params.add(time_or_null(filter.failed_after)).add(time_or_null(filter.failed_before));
    params.add(filter.attempts_at_least).add(filter.attempts_at_most);
    return params;
}

}  // namespace

DeadLetterVerbs::DeadLetterVerbs(std::string_view schema)
    : redrive_one_{"redrive", with_schema(redrive_one_sql(), schema)},
      redrive_many_{unprepared(redrive_many_sql(), "not d.discarded", schema),
                    unprepared(redrive_many_sql(), "d.discarded", schema)},
      count_{unprepared(std::string(count_head) + std::string(failed_jobs), "not d.discarded", schema),
             unprepared(std::string(count_head) + std::string(failed_jobs), "d.discarded", schema)},
      page_{unprepared(page_sql(), "not d.discarded", schema), unprepared(page_sql(), "d.discarded", schema)},
      attempts_{"attempts", with_schema(attempts_sql, schema)},
      acts_{"acts", with_schema(acts_sql, schema)} {}

Acted DeadLetterVerbs::redrive(Connection& connection, Names& names, const Redrive& act) const {
    Params params;
    params.add(act.act.id).add(act.act.by).add(act.act.why).add(storable_span(act.wait));
    params.add(queue_or_null(connection, names, act.queue)).add(level_or_null(act.priority));
    return until_answered(connection, redrive_one_, params, {State::failed}, State::pending);
}

std::vector<Redriven> DeadLetterVerbs::redrive(Connection& connection, Names& names, const RedriveMany& act) const {
    Params params = params_of(act.filter);
    params.add(act.limit).add(storable_span(act.wait));
    params.add(queue_or_null(connection, names, act.queue)).add(level_or_null(act.priority));
    params.add(storable_span(act.spacing)).add(act.by).add(act.why);
    const Result rows = connection.run(redrive_many_.of(act.filter), params);
    std::vector<Redriven> jobs;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        jobs.push_back({rows.int64(row, 0), names.kind(connection, rows.int32(row, 1)),
                        names.queue(connection, rows.int32(row, 2))});
    }
    return jobs;
}

std::int64_t DeadLetterVerbs::count(Connection& connection, const Filter& filter) const {
    return connection.run(count_.of(filter), params_of(filter)).int64(0, 0);
}

DeadLetterPage DeadLetterVerbs::page(Connection& connection, const DeadLetterQuery& query) const {
    Params params = params_of(query.filter);
    params.add(query.after ? std::optional(storable_time(query.after->failed_at)) : std::nullopt);
    params.add(query.after ? std::optional(query.after->id) : std::nullopt);
    // One more than the page holds tells whether there is a next one.
    params.add(query.limit + 1);
    const Result rows = connection.run(page_.of(query.filter), params);
    DeadLetterPage page;
    const auto size = std::min(rows.size(), static_cast<std::size_t>(query.limit));
    for (std::size_t row = 0; row < size; ++row) {
        page.letters.push_back({read_job_info(rows, row),
                                rows.optional_string(row, job_info_width).value_or(std::string{}),
                                rows.optional_string(row, job_info_width + 1).value_or(std::string{})});
    }
    if (rows.size() > size) {
        const DeadLetter& last = page.letters.back();
        page.next = model::to_text({last.finished_at.value_or(Time{}), last.id});
    }
    return page;
}

std::vector<AttemptInfo> DeadLetterVerbs::attempts(Connection& connection, JobId id) const {
    const Result rows = connection.run(attempts_, Params{}.add(id));
    std::vector<AttemptInfo> attempts;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        AttemptInfo attempt;
        attempt.attempt = rows.int32(row, 0);
        attempt.counted = rows.boolean(row, 1);
        attempt.redriven = rows.boolean(row, 2);
        attempt.record = model::error_from_json(rows.text(row, 3));
        attempt.decision = rows.string(row, 4);
        attempt.reason = model::parse_reason(rows.optional_text(row, 5).value_or("")).value_or(Reason::none);
        attempt.rule = rows.optional_string(row, 6).value_or(std::string{});
        attempt.delay = std::chrono::microseconds(rows.optional_int64(row, 7).value_or(0));
        attempt.jitter = std::chrono::microseconds(rows.optional_int64(row, 8).value_or(0));
        attempt.node = rows.optional_int64(row, 9).value_or(0);
        attempt.started_at = rows.optional_time(row, 10);
        attempt.finished_at = rows.time(row, 11);
        attempt.duration = std::chrono::microseconds(rows.optional_int64(row, 12).value_or(0));
        attempts.push_back(std::move(attempt));
    }
    return attempts;
}

std::vector<pawl::Act> DeadLetterVerbs::acts(Connection& connection, JobId id) const {
    const Result rows = connection.run(acts_, Params{}.add(id));
    std::vector<pawl::Act> acts;
    for (std::size_t row = 0; row < rows.size(); ++row)
        acts.push_back({rows.time(row, 0), rows.string(row, 1), rows.string(row, 2), rows.string(row, 3)});
    return acts;
}

}  // namespace pawl::store::pg
