#include "store/pg/steps.hpp"

#include <string>

#include <pawl/errors.hpp>

namespace pawl::store::pg {
namespace {

// All begin with $1 token, $2 position, $3 id, $4 name. They use claim's and step's primary keys.
//
// The claim's row is locked for key share: in the caller's transaction nobody can take the claim over until that ends,
// while settles of other jobs of the claim go on.
constexpr std::string_view held_sql = R"(
with held as materialized (
    select id
    from @schema@.claim
    where id = $1::bigint
      and get_bit(settled, $2::int) = 0
      and ids[$2 + 1] = $3::bigint
    for key share
))";

constexpr std::string_view begin_sql = R"(, begun as (
    insert into @schema@.step (id, name, token)
    select $3, $4::text, $1
    from held
    on conflict do nothing
    returning id
)
select exists (select from held), exists (select from begun), s.token, s.finished_at is not null, s.result
from (select) as always
left join @schema@.step s on s.id = $3 and s.name = $4)";

// $5 token of the run that left it in doubt
constexpr std::string_view take_over_sql = R"(, begun as (
    update @schema@.step
    set token = $1, began_at = clock_timestamp()
    where id = $3
      and name = $4::text
      and token = $5::bigint
      and finished_at is null
      and exists (select from held)
    returning id
)
select exists (select from held), exists (select from begun), s.token, s.finished_at is not null, s.result
from (select) as always
left join @schema@.step s on s.id = $3 and s.name = $4)";

// $5 result. Written also when the claim is over meanwhile: that it was done is true all the same, unless a later run has
// taken the step over.
constexpr std::string_view finish_sql = R"(, finished as (
    update @schema@.step
    set finished_at = clock_timestamp(), result = $5::jsonb
    where id = $3
      and name = $4::text
      and token = $1
      and finished_at is null
    returning id
)
select exists (select from held) and exists (select from finished))";

// $1 token, $2 position, $3 id. Uses claim's primary key.
constexpr std::string_view begin_run_sql = R"(
update @schema@.claim
set begun = set_bit(coalesce(begun, repeat('0', 128)::bit(128)), $2::int, 1)
where id = $1
  and get_bit(settled, $2) = 0
  and ids[$2 + 1] = $3
returning id)";

// $1 token, $2 id, $3 name
constexpr std::string_view forget_sql = R"(
delete from @schema@.step
where id = $2
  and name = $3
  and token = $1
  and finished_at is null)";

// A row that another transaction committed during the statement is in the way and not seen yet.
constexpr int most_looks = 3;

std::string fenced(std::string_view statement) { return std::string(held_sql) + std::string(statement); }

Params params_of(const Step& step) {
    return std::move(Params{}.add(step.slot.token).add(step.slot.position).add(step.slot.id).add(step.name));
}

}  // namespace

StepVerbs::StepVerbs(std::string_view schema)
    : begin_{"begin_step", with_schema(fenced(begin_sql), schema)},
      take_over_{"take_over_step", with_schema(fenced(take_over_sql), schema)},
      finish_{"finish_step", with_schema(fenced(finish_sql), schema)},
      forget_{"forget_step", with_schema(forget_sql, schema)},
      begin_run_{"begin_run", with_schema(begin_run_sql, schema)} {}

template <class Session>
StepBegun StepVerbs::begin(Session& session, const Step& step) const {
    Params params = params_of(step);
    if (step.begun_by) params.add(*step.begun_by);
    for (int look = 0; look < most_looks; ++look) {
        const Result rows = session.run(step.begun_by ? take_over_ : begin_, params);
        if (!rows.boolean(0, 0)) return {.state = StepState::stale};
        if (rows.boolean(0, 1)) return {.state = StepState::begun};
        if (rows.is_null(0, 2)) continue;
        return {.state = rows.boolean(0, 3) ? StepState::done : StepState::in_doubt,
                .begun_by = rows.int64(0, 2),
                .result = rows.optional_string(0, 4)};
    }
    throw StoreError(ErrorCode::store_rejected, "a step was begun and undone by others again and again",
                     {.transient = true});
}

template <class Session>
bool StepVerbs::finish(Session& session, const Step& step, const std::optional<std::string>& result) const {
    return session.run(finish_, params_of(step).add(result)).boolean(0, 0);
}

void StepVerbs::forget(Connection& connection, const Step& step) const {
    connection.run(forget_, Params{}.add(step.slot.token).add(step.slot.id).add(step.name));
}

bool StepVerbs::begin_run(Connection& connection, const model::ClaimSlot& slot) const {
    return !connection.run(begin_run_, Params{}.add(slot.token).add(slot.position).add(slot.id)).empty();
}

template StepBegun StepVerbs::begin(Connection&, const Step&) const;
template StepBegun StepVerbs::begin(CallerTransaction&, const Step&) const;
template bool StepVerbs::finish(Connection&, const Step&, const std::optional<std::string>&) const;
template bool StepVerbs::finish(CallerTransaction&, const Step&, const std::optional<std::string>&) const;

}  // namespace pawl::store::pg
