#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pawl/dead_letters.hpp>
#include <pawl/fwd.hpp>
#include <pawl/job.hpp>

#include "model/acts.hpp"
#include "model/claimed_job.hpp"
#include "model/job_spec.hpp"
#include "model/retry_load.hpp"
#include "model/settlement.hpp"
#include "model/step.hpp"

// What the runtime asks of the database: one verb per move, in the order of a job's life. Each verb is one statement in
// one transaction, so that at any commit a job stands in exactly one place.

namespace pawl::store {

using model::NodeId;
using model::Step;
using model::StepBegun;
using model::StepState;

struct Enqueue {
    const model::JobSpec& spec;
    /// JSON texts, already validated.
    std::span<const std::string> payloads;
};

/// A statement that enqueues, for callers on a driver of their own: text parameters for $1, $2, …
struct PlainStatement {
    std::string sql;
    std::vector<std::optional<std::string>> params;
};

/// How many jobs of a queue are wanted.
struct QueueRoom {
    int queue{};
    int room{};
};

/// Where a claim begins to look: after this row of the claim order of one queue and level.
struct ClaimStart {
    int queue{};
    Priority level{};
    Time run_at{Time::min()};
    JobId id{};
};

struct Claim {
    NodeId node{};
    std::span<const QueueRoom> rooms;
    /// One per queue and level; what is missing is looked at from the start.
    std::span<const ClaimStart> starts;
    /// Only these kinds.
    std::span<const int> kinds;
    /// None of these jobs.
    std::span<const JobId> except{};
};

struct Claimed {
    /// In claim order; up to 128 of one token, one token after the other.
    std::vector<std::shared_ptr<const model::ClaimedJob>> jobs;
    /// Rows were seen that somebody else had locked: a look right after may find more.
    bool met_locks{};
    /// There are suspects of these queues and kinds, which this claim passes over; see claim_suspect.
    bool suspects{};
    /// False when the node's row says that it is dead: nothing was claimed, and nothing will be.
    bool node_alive{true};
    /// The oldest transaction that may still write (the snapshot's xmin).
    std::uint64_t oldest_writer{};
};

struct Settle {
    NodeId node{};
    /// Grows with every settle of a node. In doubt, the very same settle is sent again under the same number.
    std::int64_t seq{};
    std::span<const model::Settlement> settlements;
};

/// A queue that a dead letter paused.
struct Halted {
    int queue{};
    std::string name;
    JobId by{};
};

struct Settled {
    /// Same order as the settlements: false where the claim no longer held the id (stale).
    std::vector<bool> applied;
    /// Not known when the reply was lost.
    std::vector<Halted> halted;
};

struct Registration {
    std::string name;
    std::string host;
    std::string boot;
    std::int64_t pid{};
    std::string process_start;
    std::chrono::microseconds expiry{};
};

struct Heartbeat {
    NodeId node{};
    /// Settle marks up to here are no longer needed.
    std::int64_t settled_upto{};
    /// Canceled runs that have been heard of, by their numbers: one that was numbered earlier may commit later.
    std::span<const std::int64_t> canceled_heard{};
};

/// A run whose job was canceled while it ran.
struct CanceledRun {
    /// None in a notification.
    std::int64_t number{};
    ClaimToken token{};
    JobId id{};
};

struct OwnClaim {
    ClaimToken token{};
    bool lost{};
};

struct Pulse {
    /// False: others have declared this node dead; it has to fence itself.
    bool alive{};
    /// The claims of the node as the database has them.
    std::vector<OwnClaim> claims;
    std::vector<CanceledRun> canceled;
};

struct ClaimSuspect {
    NodeId node{};
    std::span<const int> queues;
    std::span<const int> kinds;
};

/// What a node has counted of a kind.
struct KindLoad {
    int kind{};
    model::RetryLoad load;
};

/// A job that was taken over.
struct LostJob {
    std::shared_ptr<const model::ClaimedJob> job;
    /// It was all that its process held.
    bool alone{};
    /// Its run is known to have begun; see begin_run.
    bool begun{};
};

/// Ids that were taken over, or are owned without memory of it, together with who had them.
struct LostClaim {
    ClaimToken token{};
    NodeId from{};
    std::vector<LostJob> jobs;
};

struct Rescue {
    NodeId node{};
    /// How many claims to take at most.
    int limit{};
    /// Whether nodes whose heartbeat is overdue are declared dead. Claims of nodes that are not alive are taken anyway.
    bool may_expire{};
};

struct Rescued {
    /// Nodes that were found expired in this round.
    std::vector<NodeId> expired;
    /// Their claims, now ours under new tokens, to be decided as lost.
    std::vector<LostClaim> claims;
    /// Jobs given back uncounted because their node had said goodbye.
    std::int64_t released{};
};

struct Promoted {
    std::int64_t moved{};
    /// From now until the next scheduled job is due; none when nothing is scheduled.
    std::optional<std::chrono::microseconds> next_due;
};

/// How long ended jobs are kept; none: for ever.
struct Retention {
    std::optional<Duration> succeeded{};
    std::optional<Duration> failed{};
    std::optional<Duration> canceled{};
};

struct Purge {
    Retention retention;
    /// Ended jobs are looked at in the order of their ids, beginning after this one.
    JobId after{};
    int limit{};
};

struct Purged {
    /// False: another node is at it.
    bool ours{};
    std::int64_t looked_at{};
    JobId last{};
    /// Some of them are older than the shortest retention. Ids grow with time: without one, none of the later ones are.
    bool any_old{};
    std::int64_t jobs{};
    std::int64_t attempts{};
};

struct Sleep {
    NodeId node{};
    /// Queue 0 stands for the promotion of scheduled jobs.
    std::span<const int> queues;
    /// None: not before it is told.
    std::optional<std::chrono::microseconds> wake_in;
};

struct Asleep {
    /// Every transaction that may have missed the announcement is older than this one (the snapshot's xmax).
    std::uint64_t first_later_writer{};
};

struct Misplaced {
    JobId id{};
    std::vector<std::string> places;
};

/// What the options of a node say of a queue, and of a kind.
struct QueueFacts {
    std::string_view name;
    std::string_view runbook;
    bool halts{};
};
struct KindFacts {
    std::string_view name;
    std::string_view runbook;
};

/// An act on one queue.
struct ActOnQueue {
    std::string_view name;
    std::string_view by;
    std::string_view why;
};

/// An act on one job, by its id.
struct ActOn {
    JobId id{};
    std::string_view by;
    std::string_view why;
};

struct Redrive {
    ActOn act;
    std::chrono::microseconds wait{};
    std::optional<std::string_view> queue{};
    std::optional<Priority> priority{};
};

struct RedriveMany {
    const Filter& filter;
    int limit{};
    std::string_view by;
    std::string_view why;
    std::chrono::microseconds wait{};
    std::optional<std::string_view> queue{};
    std::optional<Priority> priority{};
    /// Between the due times of two of them.
    std::chrono::microseconds spacing{};
};

/// A job that was put back, and where it stands now.
struct Redriven {
    JobId id{};
    std::string kind;
    std::string queue;
};

struct DeadLetterQuery {
    const Filter& filter;
    int limit{};
    /// Those that failed before this one.
    std::optional<model::Cursor> after{};
};

/// What an act came to.
struct Acted {
    bool done{};
    /// As in ActResult.
    std::optional<State> state{};
    // Of the job, where there is one.
    std::string kind;
    std::string queue;
    int attempts{};
};

/// Which jobs are looked for; what is not given may be anything.
struct Search {
    std::string_view kind;
    std::optional<std::string_view> queue;
    std::optional<std::string_view> tag;
    std::optional<State> state;
};

/// What a listener heard.
struct Wakeup {
    /// The connection is new: whatever was said before it is lost, so everything may have changed.
    bool reconnected{};
    bool scheduled{};
    std::vector<int> queues;
    /// Queues that were paused or halted.
    std::vector<int> paused;
    /// Of the node that is told.
    std::vector<std::pair<NodeId, CanceledRun>> canceled;
};

/// Waits for wake-ups on a connection of its own.
///
/// **Threads**: `wait` is confined to one thread; `interrupt` is safe from any thread.
class WakeupListener {
public:
    WakeupListener() = default;
    WakeupListener(const WakeupListener&) = delete;
    WakeupListener& operator=(const WakeupListener&) = delete;
    virtual ~WakeupListener() = default;

    /// Connects when it must, and returns what was heard until then or within the bound; right after a connect it says
    /// so (`reconnected`). **Throws** `StoreError` when the connection is lost.
    virtual Wakeup wait(std::chrono::milliseconds bound) = 0;
    virtual void interrupt() noexcept = 0;
};

/// The jobs in PostgreSQL.
///
/// Every verb throws `StoreError`; a lost connection is opened anew by the next call, never silently in the middle of one.
///
/// **Threads**: enqueue, find, counts, the acts and the schema verbs are safe from any thread. The others are each confined to one
/// thread at a time, as noted by the connection they run on: claim, settle, pulse, upkeep.
class Store {
public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    // The schema, on a connection opened for the purpose.
    virtual void migrate() = 0;
    virtual void check_schema() = 0;

    // Enqueue: on the caller's transaction, or on a pooled connection. Ids in the order of the payloads.
    virtual std::vector<JobId> enqueue(const Enqueue& jobs) = 0;
    virtual std::vector<JobId> enqueue(pqxx::dbtransaction& transaction, const Enqueue& jobs) = 0;
    [[nodiscard]] virtual PlainStatement enqueue_statement(const Enqueue& jobs) = 0;
    [[nodiscard]] virtual std::vector<int> intern_kinds(std::span<const std::string> names) = 0;
    [[nodiscard]] virtual std::vector<int> intern_queues(std::span<const std::string> names) = 0;

    // Claim: connection claim.
    virtual Claimed claim(const Claim& wanted) = 0;
    /// One suspect, under a claim of its own, or none: while one of a queue is claimed anywhere, no other of that queue is.
    virtual Claimed claim_suspect(const ClaimSuspect& wanted) = 0;
    virtual Asleep announce_sleep(const Sleep& sleep) = 0;
    virtual void announce_awake(NodeId node) = 0;

    // Steps of a running job: in the caller's transaction, or on a pooled connection where that is null. Each is written only
    // while the claim holds the job, but for `forget_step`, and a step that was done under a claim that is over meanwhile.
    virtual StepBegun begin_step(pqxx::dbtransaction* transaction, const Step& step) = 0;
    /// False when the claim is over, or somebody took the step over.
    virtual bool finish_step(pqxx::dbtransaction* transaction, const Step& step,
                             const std::optional<std::string>& result) = 0;
    /// Undoes what `begin_step` wrote on a pooled connection.
    virtual void forget_step(const Step& step) = 0;

    /// Writes down that a run begins which must not be repeated, on a pooled connection. False when the claim does not hold
    /// the job any more.
    [[nodiscard]] virtual bool begin_run(const model::ClaimSlot& slot) = 0;

    // Settle: connection settle.
    virtual Settled settle(const Settle& batch) = 0;

    // The life of a node: connection pulse.
    virtual NodeId register_node(const Registration& node) = 0;
    virtual Pulse heartbeat(const Heartbeat& beat) = 0;
    /// Gives back, uncounted, what the claims of this node still hold, and returns the number of jobs.
    virtual std::int64_t release_claims(NodeId node, std::span<const ClaimToken> tokens) = 0;
    /// The jobs of claims that were taken over but whose reply was lost.
    virtual std::vector<LostClaim> load_claims(NodeId node, std::span<const ClaimToken> tokens) = 0;
    /// Releases whatever the node still holds, and marks it as stopped. Returns the number of jobs released.
    virtual std::int64_t say_goodbye(NodeId node) = 0;

    // Upkeep: connection upkeep.
    virtual Rescued rescue(const Rescue& round) = 0;
    virtual Promoted promote(int limit) = 0;
    /// Brings forward what is scheduled for later, so that it is due now, and returns the number of jobs. For tests: in
    /// production nothing moves time.
    virtual std::int64_t make_due() = 0;
    /// Says what this node has counted of its kinds, and returns what all others have said of these within the last minute.
    [[nodiscard]] virtual std::vector<KindLoad> share_retry_loads(NodeId node, std::span<const KindLoad> own) = 0;
    /// Removes ended jobs whose time is over, with their attempts, among a bounded number of them.
    virtual Purged purge(const Purge& round) = 0;
    virtual Asleep announce_upkeep_sleep(const Sleep& sleep) = 0;
    /// Makes partitions ahead of the ids in use.
    virtual void make_room() = 0;
    /// Removes nodes that ended more than a day ago and hold no claim, with their settle marks.
    virtual void forget_nodes() = 0;

    // Queues.
    /// Stores what the options say, where it is something else.
    virtual void describe(std::span<const QueueFacts> queues, std::span<const KindFacts> kinds) = 0;
    /// False when it was paused already, or not paused.
    virtual bool pause_queue(const ActOnQueue& act) = 0;
    virtual bool resume_queue(const ActOnQueue& act) = 0;
    [[nodiscard]] virtual std::vector<QueueInfo> queues() = 0;

    /// The ids of jobs that stand in some place and have not ended, in order, all in one snapshot. The filter is already
    /// validated. Reads every such job of the kind and queue.
    [[nodiscard]] virtual std::vector<JobId> standing(const JobFilter& filter, int limit) = 0;

    // Acts on one job, wherever it stands; none is an answer before the job was seen (it may be in the middle of a move).
    [[nodiscard]] virtual Acted cancel(const ActOn& act) = 0;
    [[nodiscard]] virtual Acted pause(const ActOn& act) = 0;
    [[nodiscard]] virtual Acted resume(const ActOn& act) = 0;
    [[nodiscard]] virtual Acted redrive(const Redrive& act) = 0;

    // Failed jobs. Filters are already validated.
    /// Puts back all of those that are meant, up to the limit, the oldest first, or none.
    [[nodiscard]] virtual std::vector<Redriven> redrive(const RedriveMany& act) = 0;
    [[nodiscard]] virtual std::int64_t count_failed(const Filter& filter) = 0;
    [[nodiscard]] virtual DeadLetterPage dead_letters(const DeadLetterQuery& query) = 0;
    [[nodiscard]] virtual std::vector<AttemptInfo> attempts(JobId id) = 0;
    [[nodiscard]] virtual std::vector<Act> acts(JobId id) = 0;

    // Looking.
    [[nodiscard]] virtual std::optional<JobInfo> find(JobId id) = 0;
    /// In the order of their ids. Reads every job of the kind that is kept.
    [[nodiscard]] virtual std::vector<JobInfo> search(const Search& wanted) = 0;
    [[nodiscard]] virtual JobCounts counts(std::optional<std::string_view> queue) = 0;
    /// Ids that stand in no place or in two. Reads everything.
    [[nodiscard]] virtual std::vector<Misplaced> verify() = 0;

    [[nodiscard]] virtual std::unique_ptr<WakeupListener> listen() = 0;
};

}  // namespace pawl::store
