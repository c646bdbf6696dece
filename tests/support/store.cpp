#include "support/store.hpp"

#include "store/pg/pg_store.hpp"

namespace pawl::tests {

using store::pg::Params;

model::JobSpec job_spec(const std::function<void(model::JobSpec&)>& adjust) {
    model::JobSpec spec;
    spec.kind = test_kind;
    if (adjust) adjust(spec);
    return spec;
}

std::vector<JobId> ids_of(const store::Claimed& claimed) {
    std::vector<JobId> ids;
    for (const JobPtr& job : claimed.jobs) ids.push_back(job->slot.id);
    return ids;
}

std::vector<JobId> ids_of(const std::vector<store::LostClaim>& claims) {
    std::vector<JobId> ids;
    for (const store::LostClaim& claim : claims) {
        for (const store::LostJob& lost : claim.jobs) ids.push_back(lost.job->slot.id);
    }
    return ids;
}

model::Settlement settlement(const JobPtr& job, model::Verdict verdict,
                             const std::function<void(model::Decision&)>& adjust) {
    model::Settlement made;
    made.job = job;
    made.decision.verdict = verdict;
    if (adjust) adjust(made.decision);
    return made;
}

void StoreTest::SetUp() {
    DatabaseTest::SetUp();
    renew_store();
    node_ = register_node();
}

void StoreTest::TearDown() {
    store_.reset();
    DatabaseTest::TearDown();
}

std::unique_ptr<store::Store> StoreTest::new_store() const {
    return store::pg::make_store({.connection = dsn(), .schema = schema()});
}

store::NodeId StoreTest::register_node(std::chrono::microseconds expiry, std::optional<std::int64_t> pid) {
    store::Registration registration;
    registration.name = "node";
    registration.host = "host";
    registration.boot = "boot";
    registration.pid = pid.value_or(++last_pid_);
    registration.process_start = "1";
    registration.expiry = expiry;
    return store().register_node(registration);
}

void StoreTest::let_expire(store::NodeId node) {
    sql("update @schema@.node set heartbeat_at = clock_timestamp() - expiry - interval '1 second' where id = $1",
        Params{}.add(node));
}

std::vector<JobId> StoreTest::enqueue(std::size_t count, const model::JobSpec& spec) {
    std::vector<std::string> payloads;
    for (std::size_t i = 0; i < count; ++i) payloads.push_back(std::to_string(i));
    return store().enqueue({spec, payloads});
}

int StoreTest::queue_id(std::string_view name) {
    return store().intern_queues(std::vector<std::string>{std::string(name)}).front();
}

int StoreTest::kind_id(std::string_view name) {
    return store().intern_kinds(std::vector<std::string>{std::string(name)}).front();
}

store::Claimed StoreTest::claim(store::Store& by, store::NodeId owner, int room) {
    const std::vector<store::QueueRoom> rooms{{queue_id(), room}};
    const std::vector<int> kinds{kind_id()};
    return by.claim({owner, rooms, {}, kinds});
}

store::Claimed StoreTest::claim_suspect(store::Store& by, store::NodeId owner) {
    const std::vector<int> queues{queue_id()};
    const std::vector<int> kinds{kind_id()};
    return by.claim_suspect({owner, queues, kinds});
}

std::vector<bool> StoreTest::settle(const std::vector<model::Settlement>& settlements) {
    return store().settle({node(), ++seq_, settlements}).applied;
}

std::string StoreTest::place_of(JobId id) {
    const auto rows = sql(R"sql(
        select coalesce(string_agg(place, '+' order by place), 'nowhere')
        from (select 'ready' as place from @schema@.ready where $1::bigint >= first_id and $1 < first_id + n
              union all
              select 'scheduled' from @schema@.scheduled where $1 >= first_id and $1 < first_id + n
              union all
              select 'claim' from @schema@.claim c cross join lateral generate_subscripts(c.ids, 1) i
              where c.ids[i] = $1 and get_bit(c.settled, i - 1) = 0
              union all
              select 'parked' from @schema@.parked where id = $1
              union all
              select 'done' from @schema@.done where id = $1) standing
    )sql",
                          Params{}.add(id));
    return rows.string(0, 0);
}

}  // namespace pawl::tests
