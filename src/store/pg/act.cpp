#include "store/pg/act.hpp"

#include <initializer_list>
#include <string>
#include <utility>

#include "store/pg/act_answer.hpp"
#include "store/pg/spans.hpp"

namespace pawl::store::pg {
namespace {

// In all of them: $1 id, $2 by, $3 why. The lock order is claims, then places; each locks one row at most. A claim is locked so that
// a step of once() in a transaction of its handler, which shares its key, need not have ended.

// Takes one id out of a range of `ready` or `scheduled`, and puts what stood before and after it back. Uses ready_id, scheduled_id.
constexpr std::string_view from_range = R"(
from_@place@ as (
    delete from @schema@.@place@
    where first_id = (
        select first_id
        from (select first_id, n from @schema@.@place@ where first_id between $1 - 99 and $1 order by first_id desc limit 1) r
        where first_id + n > $1)
      and first_id + n > $1
    returning first_id, run_at, queue, kind, attempts, n, priority, crashes, losses
), rest_of_@place@ as (
    insert into @schema@.@place@ (first_id, run_at, queue, kind, attempts, n, priority, crashes, losses)
    select part.first_id, run_at, queue, kind, attempts, part.n::smallint, priority, crashes, losses
    from from_@place@ r
    cross join lateral (values (r.first_id, $1 - r.first_id), ($1 + 1, r.first_id + r.n - $1 - 1)) part (first_id, n)
    where part.n > 0
),)";

// Takes one id out of the claim that holds it. There are few claims: they are read through.
constexpr std::string_view from_claim = R"(
held as materialized (
    select id, node, settled, array_position(ids, $1) as place, attempts[array_position(ids, $1)] as attempts
    from @schema@.claim
    where ids @> array[$1]
      and get_bit(settled, array_position(ids, $1) - 1) = 0
    order by id
    for no key update
), emptied as (
    delete from @schema@.claim c
    using held h
    where c.id = h.id
      and bit_count(set_bit(h.settled, h.place - 1, 1)) = 128
), kept as (
    update @schema@.claim c
    set settled = set_bit(h.settled, h.place - 1, 1)
    from held h
    where c.id = h.id
      and bit_count(set_bit(h.settled, h.place - 1, 1)) < 128
),)";

constexpr std::string_view note = R"(
noted as (
    insert into @schema@.act (job, verb, by, why)
    select $1, '@verb@', $2, $3
    from moved
))";

constexpr std::string_view cancel_parts = R"(
from_parked as (
    delete from @schema@.parked
    where id = $1
    returning attempts
), moved as (
    select attempts from held
    union all
    select attempts from from_ready
    union all
    select attempts from from_scheduled
    union all
    select attempts from from_parked
), ended as (
    insert into @schema@.done (id, finished_at, state, attempts, detail)
    select $1, clock_timestamp(), 'canceled', attempts, nullif($3, '')
    from moved
), told as (
    insert into @schema@.canceled_run (node, token, id)
    select node, id, $1
    from held
),)";

constexpr std::string_view tell_owner =
    R"(, (select count(pg_notify(@schema@.channel(), 'canceled ' || node || ' ' || id || ' ' || $1)) from held))";

constexpr std::string_view pause_parts = R"(
moved as (
    select run_at, queue, kind, attempts, priority, crashes, losses from from_ready
    union all
    select run_at, queue, kind, attempts, priority, crashes, losses from from_scheduled
), parked as (
    insert into @schema@.parked (id, state, run_at, queue, kind, attempts, priority, crashes, losses)
    select $1, 'paused', run_at, queue, kind, attempts, priority, crashes, losses
    from moved
),)";

// Back where it would stand by now. The clock is read once: read for each place, it lets a job that falls due in between stand
// in both, or in none.
constexpr std::string_view resume_parts = R"(
moved as (
    delete from @schema@.parked
    where id = $1
      and state = 'paused'
    returning run_at, queue, kind, attempts, priority, crashes, losses
), again as materialized (
    select *, run_at > clock_timestamp() as later
    from moved
), due_now as (
    insert into @schema@.ready (first_id, run_at, queue, kind, attempts, priority, crashes, losses)
    select $1, run_at, queue, kind, attempts, priority, crashes, losses
    from again
    where not later
), due_later as (
    insert into @schema@.scheduled (first_id, run_at, queue, kind, attempts, priority, crashes, losses)
    select $1, run_at, queue, kind, attempts, priority, crashes, losses
    from again
    where later
),)";

// $1 kind, $2 queue, $3 tags, $4 $5 created after and before, all may be null, $6 limit. Uses job_pkey. In one snapshot each job
// that has not ended stands in one of these places, whatever moves meanwhile.
constexpr std::string_view standing_sql = R"(
with wanted as materialized (
    select (select id from @schema@.kind where name = $1::text) as kind, (select id from @schema@.queue where name = $2::text) as queue
), standing as (
    select r.first_id + i as id, r.kind, r.queue
    from @schema@.ready r cross join lateral generate_series(0, r.n - 1) i
    union all
    select s.first_id + i, s.kind, s.queue
    from @schema@.scheduled s cross join lateral generate_series(0, s.n - 1) i
    union all
    select id, kind, queue
    from @schema@.parked
    union all
    select c.ids[i], c.kinds[i], c.queues[i]
    from @schema@.claim c cross join lateral generate_series(1, cardinality(c.ids)) i
    where get_bit(c.settled, i - 1) = 0
)
select s.id
from standing s
join @schema@.job j on j.id = s.id
cross join wanted w
where ($1 is null or s.kind = w.kind)
  and ($2 is null or s.queue = w.queue)
  and ($3::text[] is null or j.tags @> $3)
  and ($4::bigint is null or j.created_at >= timestamptz 'epoch' + $4 * interval '1 microsecond')
  and ($5::bigint is null or j.created_at < timestamptz 'epoch' + $5 * interval '1 microsecond')
order by s.id
limit $6)";

std::string range_of(std::string_view place) {
    std::string text(from_range);
    replace(text, "@place@", place);
    return text;
}

Statement statement(std::string_view verb, std::initializer_list<std::string_view> parts, std::string_view also,
                    std::string_view schema) {
    std::string sql = "with";
    for (const std::string_view part : parts) sql += part;
    sql += note;
    sql += act_answer;
    replace(sql, "@verb@", verb);
    replace(sql, "@also@", also);
    replace(sql, "$1", "$1::bigint");
    return {std::string(verb), with_schema(sql, schema)};
}

Params params_of(const ActOn& act) { return std::move(Params{}.add(act.id).add(act.by).add(act.why)); }

}  // namespace

ActVerbs::ActVerbs(std::string_view schema)
    : standing_{"", with_schema(standing_sql, schema)},
      cancel_{statement("cancel", {from_claim, range_of("ready"), range_of("scheduled"), cancel_parts}, tell_owner,
                        schema)},
      pause_{statement("pause", {range_of("ready"), range_of("scheduled"), pause_parts}, "", schema)},
      resume_{statement("resume", {resume_parts}, "", schema)} {}

std::vector<JobId> ActVerbs::standing(Connection& connection, const JobFilter& filter, int limit) const {
    Params params;
    params.add(filter.kind).add(filter.queue);
    if (filter.tags.empty()) {
        params.add_null();
    } else {
        params.add(filter.tags);
    }
    params.add(time_or_null(filter.created_after)).add(time_or_null(filter.created_before)).add(limit);
    const Result rows = connection.run(standing_, params);
    std::vector<JobId> ids;
    ids.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) ids.push_back(rows.int64(row, 0));
    return ids;
}

Acted ActVerbs::cancel(Connection& connection, const ActOn& act) const {
    return until_answered(connection, cancel_, params_of(act),
                          {State::pending, State::running, State::waiting, State::paused}, State::canceled);
}

Acted ActVerbs::pause(Connection& connection, const ActOn& act) const {
    return until_answered(connection, pause_, params_of(act), {State::pending}, State::paused);
}

Acted ActVerbs::resume(Connection& connection, const ActOn& act) const {
    return until_answered(connection, resume_, params_of(act), {State::paused}, State::pending);
}

}  // namespace pawl::store::pg
