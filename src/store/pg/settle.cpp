#include "store/pg/settle.hpp"

#include <string>
#include <vector>

#include <pawl/errors.hpp>

#include "store/pg/settle_params.hpp"

namespace pawl::store::pg {
namespace {

// $1 node, $2 seq · given: $3 tokens, $4 positions, $5 ids
// ended: $6 place in given, $7 state, $8 attempts, $9 discarded, $10 duration, $11 reason, $12 detail, $13 result, $14 error
// again: $15 place in given, $16 delay, $17 due, $18 queue, $19 kind, $20 priority, $21 attempts, $22 crashes, $23 losses
// run: $24 place in given, $25 attempt, $26 counted, $27 started, $28 duration, $29 class, $30 type, $31 message, $32 causes,
//      $33 decision, $34 reason, $35 rule, $36 delay, $37 jitter
// dead: $38 place in given, $39 queue
// follow: $40 place in given, $41 kind, $42 queue, $43 priority, $44 payload
// Spans and times are microseconds.
//
// Claims are locked by token, the first of the lock order; what their bitmaps say after the wait decides. A run that timed
// out and then returned may have two outcomes in one batch: the first one counts, the other is as stale as later. The mark is in
// the same statement: sent again in doubt, the whole statement either applies or fails on settled_pkey, undone.
constexpr std::string_view settle_sql = R"(
with given as materialized (
    select token, position, id, place::int
    from unnest($3::bigint[], $4::int[], $5::bigint[]) with ordinality g (token, position, id, place)
), held as materialized (
    select id, settled, ids
    from @schema@.claim
    where id = any ($3::bigint[])
    order by id
    for no key update
), fenced as materialized (
    select distinct on (g.token, g.position) g.token, g.position, g.id, g.place
    from given g
    join held h on h.id = g.token
    where get_bit(h.settled, g.position) = 0
      and h.ids[g.position + 1] = g.id
    order by g.token, g.position, g.place
), mark as (
    insert into @schema@.settled (node, seq, stale)
    select $1, $2, case when (select count(*) from fenced) = cardinality($5::bigint[]) then '{}'
                        else array(select place from given where place not in (select place from fenced)) end
), bits as materialized (
    select h.id, h.settled | bit_or(set_bit(repeat('0', 128)::bit(128), f.position, 1)) as settled
    from fenced f
    join held h on h.id = f.token
    group by h.id, h.settled
), emptied as (
    delete from @schema@.claim c
    using bits b
    where c.id = b.id
      and bit_count(b.settled) = 128
), kept as (
    update @schema@.claim c
    set settled = b.settled
    from bits b
    where c.id = b.id
      and bit_count(b.settled) < 128
), ended as (
    insert into @schema@.done (id, finished_at, node, duration, state, attempts, discarded, reason, detail, result, error)
    select f.id, clock_timestamp(), $1, e.duration * interval '1 microsecond', e.state::@schema@.job_state, e.attempts,
           e.discarded, e.reason, e.detail, e.result, e.error
    from unnest($6::int[], $7::text[], $8::int[], $9::boolean[], $10::bigint[], $11::text[], $12::text[], $13::jsonb[], $14::jsonb[])
         e (place, state, attempts, discarded, duration, reason, detail, result, error)
    join fenced f using (place)
), again as materialized (
    select f.id, a.queue, a.kind, a.priority, a.attempts, a.crashes, a.losses, a.delay > 0 as later,
           case when a.delay > 0 then clock_timestamp() + a.delay * interval '1 microsecond'
                else coalesce(timestamptz 'epoch' + a.due * interval '1 microsecond', clock_timestamp()) end as run_at
    from unnest($15::int[], $16::bigint[], $17::bigint[], $18::int[], $19::int[], $20::smallint[], $21::int[], $22::smallint[],
                $23::smallint[])
         a (place, delay, due, queue, kind, priority, attempts, crashes, losses)
    join fenced f using (place)
), due_now as (
    insert into @schema@.ready (first_id, run_at, queue, kind, attempts, priority, crashes, losses)
    select id, run_at, queue, kind, attempts, priority, crashes, losses
    from again
    where not later
), due_later as (
    insert into @schema@.scheduled (first_id, run_at, queue, kind, attempts, priority, crashes, losses)
    select id, run_at, queue, kind, attempts, priority, crashes, losses
    from again
    where later
), recorded as (
    insert into @schema@.attempt (id, finished_at, token, node, attempt, counted, started_at, duration, class, type, message,
                                  causes, decision, reason, rule, delay, jitter)
    select f.id, clock_timestamp(), f.token, $1, r.attempt, r.counted, timestamptz 'epoch' + r.started * interval '1 microsecond',
           r.duration * interval '1 microsecond', r.class, r.type, r.message, r.causes, r.decision, r.reason, r.rule,
           r.delay * interval '1 microsecond', r.jitter * interval '1 microsecond'
    from unnest($24::int[], $25::int[], $26::boolean[], $27::bigint[], $28::bigint[], $29::text[], $30::text[], $31::text[],
                $32::jsonb[], $33::text[], $34::text[], $35::text[], $36::bigint[], $37::bigint[])
         r (place, attempt, counted, started, duration, class, type, message, causes, decision, reason, rule, delay, jitter)
    join fenced f using (place)
), halted as (
    update @schema@.queue q
    set paused = true, paused_at = clock_timestamp(), halted_by = d.job
    from (
        select l.queue, min(f.id) as job
        from unnest($38::int[], $39::int[]) l (place, queue)
        join fenced f using (place)
        group by l.queue
    ) d
    where q.id = d.queue
      and q.halts
      and not q.paused
    returning q.id, d.job
), noted as (
    insert into @schema@.act (queue, verb, by, why)
    select id, 'halt', '', 'job ' || job || ' is a dead letter'
    from halted
), follow as materialized (
    select nextval((quote_ident(@schema_text@) || '.job_id')::regclass) as id, clock_timestamp() as at, w.kind, w.queue, w.priority, w.payload
    from unnest($40::int[], $41::int[], $42::int[], $43::smallint[], $44::jsonb[]) w (place, kind, queue, priority, payload)
    join fenced f using (place)
), follow_job as (
    insert into @schema@.job (id, created_at, kind, queue, priority, payload_version, payload)
    select id, at, kind, queue, priority, 0, payload || jsonb_build_object('finished_at', (extract(epoch from at) * 1000000)::bigint)
    from follow
), follow_ready as (
    insert into @schema@.ready (first_id, run_at, queue, kind, priority)
    select id, at, queue, kind, priority
    from follow
)
select place, null::integer as queue, null::bigint as job, null::text as told
from given
where (select count(*) from fenced) < cardinality($5::bigint[])
  and place not in (select place from fenced)
union all
select null, id, job, pg_notify(@schema@.channel(), 'paused ' || id)::text
from halted)";

// $1 node, $2 seq
constexpr std::string_view read_mark_sql = R"(
select stale
from @schema@.settled
where node = $1
  and seq = $2)";

constexpr std::string_view unique_violation = "23505";

}  // namespace

SettleVerbs::SettleVerbs(std::string_view schema)
    : settle_{"settle", with_schema(settle_sql, schema)}, read_mark_{"read_mark", with_schema(read_mark_sql, schema)} {}

Settled SettleVerbs::settle(Connection& connection, Names& names, const Settle& batch) const {
    const Params params = settle_params(connection, names, batch);

    // A job may be in the batch under two tokens, so that its id alone does not say which one is meant.
    Settled settled{.applied = std::vector<bool>(batch.settlements.size(), true), .halted = {}};
    const auto is_stale = [&](std::int64_t one) { settled.applied.at(static_cast<std::size_t>(one - 1)) = false; };
    try {
        const Result rows = connection.run(settle_, params);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            if (rows.is_null(row, 1)) {
                is_stale(rows.int64(row, 0));
            } else {
                settled.halted.push_back(
                    {rows.int32(row, 1), names.queue(connection, rows.int32(row, 1)), rows.int64(row, 2)});
            }
        }
    } catch (const StoreError& error) {
        if (error.sqlstate() != unique_violation) throw;
        const Result mark = connection.run(read_mark_, Params{}.add(batch.node).add(batch.seq));
        if (mark.empty()) throw;
        for (const std::int64_t one : mark.int64_array(0, 0)) is_stale(one);
    }
    return settled;
}

}  // namespace pawl::store::pg
