#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"
#include "support/database.hpp"

namespace pawl::tests {

using JobPtr = std::shared_ptr<const model::ClaimedJob>;

inline constexpr std::string_view test_kind = "test.job";

/// A spec of kind `test.job`, with what `adjust` says.
[[nodiscard]] model::JobSpec job_spec(const std::function<void(model::JobSpec&)>& adjust = {});

/// Ids of claimed jobs, in their order.
[[nodiscard]] std::vector<JobId> ids_of(const store::Claimed& claimed);
[[nodiscard]] std::vector<JobId> ids_of(const std::vector<store::LostClaim>& claims);

/// What the engine would hand to settle for a run of this job.
[[nodiscard]] model::Settlement settlement(const JobPtr& job, model::Verdict verdict,
                                           const std::function<void(model::Decision&)>& adjust = {});

/// A test that calls the verbs of a store whose schema it has for itself, as one registered node.
class StoreTest : public DatabaseTest {
protected:
    void SetUp() override;
    void TearDown() override;

    [[nodiscard]] store::Store& store() { return *store_; }
    /// Another process's view of the same schema.
    [[nodiscard]] std::unique_ptr<store::Store> new_store() const;
    /// Ends the sessions of `store()`; the next verb opens new ones.
    void renew_store() { store_ = new_store(); }

    [[nodiscard]] store::NodeId node() const { return node_; }
    /// In a process of its own, unless one is named.
    [[nodiscard]] store::NodeId register_node(std::chrono::microseconds expiry = std::chrono::minutes(5),
                                              std::optional<std::int64_t> pid = std::nullopt);
    /// As the clock would, without waiting: its last heartbeat is longer ago than its expiry.
    void let_expire(store::NodeId node);

    std::vector<JobId> enqueue(std::size_t count, const model::JobSpec& spec = job_spec());
    JobId enqueue_one(const model::JobSpec& spec = job_spec()) { return enqueue(1, spec).front(); }

    [[nodiscard]] int queue_id(std::string_view name = "default");
    [[nodiscard]] int kind_id(std::string_view name = test_kind);

    /// Of the queue `default` and the kind `test.job`, for `node()`.
    store::Claimed claim(int room = 100) { return claim(store(), node(), room); }
    store::Claimed claim(store::Store& by, store::NodeId owner, int room = 100);
    store::Claimed claim_suspect() { return claim_suspect(store(), node()); }
    store::Claimed claim_suspect(store::Store& by, store::NodeId owner);

    /// For `node()`, each time under the next number.
    std::vector<bool> settle(const std::vector<model::Settlement>& settlements);
    std::vector<bool> settle(const JobPtr& job, model::Verdict verdict,
                             const std::function<void(model::Decision&)>& adjust = {}) {
        return settle({settlement(job, verdict, adjust)});
    }
    [[nodiscard]] std::int64_t last_seq() const { return seq_; }

    /// The places the job stands in, looked up in the tables: one, unless something is wrong.
    [[nodiscard]] std::string place_of(JobId id);
    /// The first column of the first row.
    [[nodiscard]] std::int64_t number(std::string_view statement, const store::pg::Params& params = {}) {
        return sql(statement, params).int64(0, 0);
    }

private:
    std::unique_ptr<store::Store> store_;
    store::NodeId node_{};
    std::int64_t last_pid_ = 0;
    std::int64_t seq_ = 0;
};

}  // namespace pawl::tests
