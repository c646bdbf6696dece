#include "store/pg/pg_store.hpp"

#include <type_traits>
#include <utility>

#include <pawl/errors.hpp>

#include "store/pg/act.hpp"
#include "store/pg/claim.hpp"
#include "store/pg/claim_suspect.hpp"
#include "store/pg/connection.hpp"
#include "store/pg/connection_pool.hpp"
#include "store/pg/dead_letter.hpp"
#include "store/pg/enqueue.hpp"
#include "store/pg/look.hpp"
#include "store/pg/migrator.hpp"
#include "store/pg/names.hpp"
#include "store/pg/node.hpp"
#include "store/pg/queue.hpp"
#include "store/pg/retry_load.hpp"
#include "store/pg/settle.hpp"
#include "store/pg/steps.hpp"
#include "store/pg/upkeep.hpp"
#include "store/pg/wakeups.hpp"

namespace pawl::store::pg {
namespace {

/// A session of its own for one loop of the runtime, so that none waits behind another's statement.
class Lane {
public:
    Lane(const StoreOptions& options, std::string name)
        : connection_(options.connection,
                      {.prepare = options.prepare, .fixed_plans = true, .application_name = std::move(name)}) {}

    /// Opened by the verb that needs it: after a loss the next call begins a new session.
    Connection& operator()() {
        connection_.open();
        return connection_;
    }

private:
    Connection connection_;
};

class PgStore final : public Store {
public:
    explicit PgStore(const StoreOptions& options)
        : conninfo_(options.connection),
          schema_(options.schema),
          names_(schema_),
          enqueue_(schema_),
          claim_(schema_),
          claim_suspect_(schema_),
          steps_(schema_),
          settle_(schema_),
          node_(schema_),
          upkeep_(schema_),
          retry_load_(schema_),
          queue_(schema_),
          act_(schema_),
          dead_letter_(schema_),
          look_(schema_),
          pool_(conninfo_, {.prepare = options.prepare}),
          claim_lane_(options, "pawl claim"),
          settle_lane_(options, "pawl settle"),
          pulse_lane_(options, "pawl pulse"),
          upkeep_lane_(options, "pawl upkeep") {}

    void migrate() override {
        Connection connection(conninfo_, {.statement_timeout = {}, .application_name = "pawl migrate"});
        connection.open();
        pg::migrate(connection, schema_);
    }

    void check_schema() override { pg::check_schema(*pool_.borrow(), schema_); }

    std::vector<JobId> enqueue(const Enqueue& jobs) override {
        const auto connection = pool_.borrow();
        return enqueue_.enqueue(*connection, jobs);
    }

    std::vector<JobId> enqueue(pqxx::dbtransaction& transaction, const Enqueue& jobs) override {
        const NameIds known = make_names_known(jobs.spec);
        CallerTransaction session(transaction);
        return enqueue_.enqueue(session, jobs, known);
    }

    PlainStatement enqueue_statement(const Enqueue& jobs) override { return enqueue_.statement(jobs); }

    std::vector<int> intern_kinds(std::span<const std::string> names) override {
        const auto connection = pool_.borrow();
        std::vector<int> ids;
        ids.reserve(names.size());
        for (const std::string& name : names) ids.push_back(names_.kind_id(*connection, name));
        return ids;
    }

    std::vector<int> intern_queues(std::span<const std::string> names) override {
        const auto connection = pool_.borrow();
        std::vector<int> ids;
        ids.reserve(names.size());
        for (const std::string& name : names) ids.push_back(names_.queue_id(*connection, name));
        return ids;
    }

    Claimed claim(const Claim& wanted) override { return claim_.claim(claim_lane_(), names_, wanted); }
    Claimed claim_suspect(const ClaimSuspect& wanted) override {
        return claim_suspect_.claim(claim_lane_(), names_, wanted);
    }
    Asleep announce_sleep(const Sleep& sleep) override { return claim_.announce_sleep(claim_lane_(), sleep); }
    void announce_awake(NodeId node) override { claim_.announce_awake(claim_lane_(), node); }

    StepBegun begin_step(pqxx::dbtransaction* transaction, const Step& step) override {
        return on(transaction, [&](auto& session) { return steps_.begin(session, step); });
    }
    bool finish_step(pqxx::dbtransaction* transaction, const Step& step,
                     const std::optional<std::string>& result) override {
        return on(transaction, [&](auto& session) { return steps_.finish(session, step, result); });
    }
    void forget_step(const Step& step) override { steps_.forget(*pool_.borrow(), step); }

    bool begin_run(const model::ClaimSlot& slot) override { return steps_.begin_run(*pool_.borrow(), slot); }

    Settled settle(const Settle& batch) override { return settle_.settle(settle_lane_(), names_, batch); }

    NodeId register_node(const Registration& node) override { return node_.register_node(pulse_lane_(), node); }
    Pulse heartbeat(const Heartbeat& beat) override { return node_.heartbeat(pulse_lane_(), beat); }
    std::int64_t release_claims(NodeId node, std::span<const ClaimToken> tokens) override {
        return node_.release_claims(pulse_lane_(), node, tokens);
    }
    std::vector<LostClaim> load_claims(NodeId node, std::span<const ClaimToken> tokens) override {
        return node_.load_claims(pulse_lane_(), names_, node, tokens);
    }
    std::int64_t say_goodbye(NodeId node) override { return node_.say_goodbye(pulse_lane_(), node); }

    Rescued rescue(const Rescue& round) override { return upkeep_.rescue(upkeep_lane_(), names_, round); }
    Promoted promote(int limit) override { return upkeep_.promote(upkeep_lane_(), limit); }
    std::int64_t make_due() override { return upkeep_.make_due(*pool_.borrow()); }
    std::vector<KindLoad> share_retry_loads(NodeId node, std::span<const KindLoad> own) override {
        return retry_load_.share(upkeep_lane_(), node, own);
    }
    Purged purge(const Purge& round) override { return upkeep_.purge(upkeep_lane_(), round); }
    Asleep announce_upkeep_sleep(const Sleep& sleep) override { return claim_.announce_sleep(upkeep_lane_(), sleep); }
    void make_room() override { upkeep_.make_room(upkeep_lane_()); }
    void forget_nodes() override { upkeep_.forget_nodes(upkeep_lane_()); }

    void describe(std::span<const QueueFacts> queues, std::span<const KindFacts> kinds) override {
        queue_.describe(*pool_.borrow(), names_, queues, kinds);
    }
    bool pause_queue(const ActOnQueue& act) override { return queue_.pause(*pool_.borrow(), names_, act); }
    bool resume_queue(const ActOnQueue& act) override { return queue_.resume(*pool_.borrow(), names_, act); }
    std::vector<QueueInfo> queues() override { return queue_.list(*pool_.borrow()); }

    std::vector<JobId> standing(const JobFilter& filter, int limit) override {
        return act_.standing(*pool_.borrow(), filter, limit);
    }
    Acted cancel(const ActOn& act) override { return act_.cancel(*pool_.borrow(), act); }
    Acted pause(const ActOn& act) override { return act_.pause(*pool_.borrow(), act); }
    Acted resume(const ActOn& act) override { return act_.resume(*pool_.borrow(), act); }
    Acted redrive(const Redrive& act) override { return dead_letter_.redrive(*pool_.borrow(), names_, act); }
    std::vector<Redriven> redrive(const RedriveMany& act) override {
        return dead_letter_.redrive(*pool_.borrow(), names_, act);
    }
    std::int64_t count_failed(const Filter& filter) override { return dead_letter_.count(*pool_.borrow(), filter); }
    DeadLetterPage dead_letters(const DeadLetterQuery& query) override {
        return dead_letter_.page(*pool_.borrow(), query);
    }
    std::vector<AttemptInfo> attempts(JobId id) override { return dead_letter_.attempts(*pool_.borrow(), id); }
    std::vector<Act> acts(JobId id) override { return dead_letter_.acts(*pool_.borrow(), id); }

    std::optional<JobInfo> find(JobId id) override { return look_.find(*pool_.borrow(), id); }
    std::vector<JobInfo> search(const Search& wanted) override { return look_.search(*pool_.borrow(), wanted); }
    JobCounts counts(std::optional<std::string_view> queue) override { return look_.counts(*pool_.borrow(), queue); }
    std::vector<Misplaced> verify() override { return look_.verify(*pool_.borrow()); }

    std::unique_ptr<WakeupListener> listen() override { return listen_for_wakeups(conninfo_, schema_); }

private:
    /// A new name is interned apart from the caller's transaction: inside it, the name would stay locked until it ends,
    /// and every other first use of it would wait. When that fails, the statement itself interns.
    NameIds make_names_known(const model::JobSpec& spec) {
        NameIds known = names_.known(spec.kind, spec.queue);
        if (known.kind && known.queue) return known;
        try {
            const auto connection = pool_.borrow();
            known.kind = names_.kind_id(*connection, spec.kind);
            known.queue = names_.queue_id(*connection, spec.queue);
        } catch (const StoreError&) {
            return known;
        }
        return known;
    }

    /// A verb that runs in the caller's transaction, or else on a connection of ours.
    template <class Verb>
    std::invoke_result_t<const Verb&, Connection&> on(pqxx::dbtransaction* transaction, const Verb& verb) {
        if (transaction == nullptr) return verb(*pool_.borrow());
        CallerTransaction session(*transaction);
        return verb(session);
    }

    const std::string conninfo_;
    const std::string schema_;
    Names names_;
    const EnqueueVerbs enqueue_;
    const ClaimVerbs claim_;
    const ClaimSuspectVerb claim_suspect_;
    const StepVerbs steps_;
    const SettleVerbs settle_;
    const NodeVerbs node_;
    const UpkeepVerbs upkeep_;
    const RetryLoadVerb retry_load_;
    const QueueVerbs queue_;
    const ActVerbs act_;
    const DeadLetterVerbs dead_letter_;
    const LookVerbs look_;
    ConnectionPool pool_;
    Lane claim_lane_;
    Lane settle_lane_;
    Lane pulse_lane_;
    Lane upkeep_lane_;
};

}  // namespace

std::unique_ptr<Store> make_store(const StoreOptions& options) { return std::make_unique<PgStore>(options); }

}  // namespace pawl::store::pg
