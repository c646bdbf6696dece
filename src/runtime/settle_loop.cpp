#include "runtime/settle_loop.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <pawl/errors.hpp>

namespace pawl::runtime {
namespace {

StopReport::Job fate_of(const Decided& decided, StopReport::Fate fate) {
    const model::ClaimedJob& job = *decided.settlement.job;
    return {.id = job.slot.id, .kind = job.kind, .fate = fate, .why = decided.aftermath.why};
}

}  // namespace

base::Loop::Wait SettleLoop::step(const std::stop_token& /*stop*/) {
    if (batches_.empty()) {
        busy_.store(true, std::memory_order_release);
        number(parts_.queue->take(most));
        if (batches_.empty()) {
            busy_.store(false, std::memory_order_release);
            return base::Loop::until_poked;
        }
    }
    const Batch& batch = batches_.front();
    try {
        const std::vector<store::Halted> halted = parts_.flow->settle(batch);
        answered(batch);
        for (const store::Halted& queue : halted) {
            if (parts_.on_halted) parts_.on_halted(queue.queue);
        }
    } catch (const StoreError& error) {
        if (error.transient() || error.in_doubt()) throw;
        refuse(error);
    }
    return base::Loop::Wait::zero();
}

void SettleLoop::number(std::vector<Decided> decided) {
    if (decided.empty()) return;
    batches_.push_back({parts_.publisher->node(), ++last_seq_, std::move(decided)});
}

void SettleLoop::answered(const Batch& batch) {
    bool fatal = false;
    for (const Decided& decided : batch.decided) {
        parts_.ledger->settle(decided.settlement.job->slot.token);
        fatal = fatal || decided.settlement.decision.stop_pool;
        if (reporting_.load(std::memory_order_acquire)) {
            const bool released = decided.settlement.decision.verdict == model::Verdict::release;
            report_.push_back(fate_of(decided, released ? StopReport::Fate::released : StopReport::Fate::finished));
        }
    }
    answered_.store(batch.seq, std::memory_order_relaxed);
    batches_.pop_front();
    if (batches_.empty()) busy_.store(false, std::memory_order_release);
    if (fatal && parts_.on_fatal) parts_.on_fatal();
}

void SettleLoop::refuse(const StoreError& error) {
    Batch refused = std::move(batches_.front());
    batches_.pop_front();
    if (refused.decided.size() > 1) {
        const auto middle = refused.decided.begin() + static_cast<std::ptrdiff_t>(refused.decided.size() / 2);
        std::vector<Decided> second(std::make_move_iterator(middle), std::make_move_iterator(refused.decided.end()));
        refused.decided.erase(middle, refused.decided.end());
        number(std::move(refused.decided));
        number(std::move(second));
        return;
    }
    Decided& decided = refused.decided.front();
    const model::ClaimedJob& job = *decided.settlement.job;
    model::Decision& decision = decided.settlement.decision;
    if (!std::exchange(decided.reduced, true) && (decision.result || decision.error || !decision.detail.empty())) {
        // A state change never depends on a text: what the database would not take is replaced by a note that it would not.
        parts_.log->line(base::LogLevel::warn, {job.slot.id, job.kind, job.attempt()},
                         "the database refused the run's result or error text ({}); settling without it",
                         error.sqlstate());
        if (decision.result) decision.result = R"({"pawl":"the database refused the result"})";
        if (decision.error) {
            decision.error->message = "the database refused the error's text";
            decision.error->causes.clear();
        }
        decision.detail.clear();
        number(std::move(refused.decided));
        return;
    }
    parts_.log->line(base::LogLevel::error, {job.slot.id, job.kind, job.attempt()},
                     "the run cannot be settled: {}; it stays claimed until this node reconciles", error.what());
    parts_.queue->answer(decided, false);
    parts_.ledger->settle(job.slot.token);
    answered_.store(refused.seq, std::memory_order_relaxed);
    if (batches_.empty()) busy_.store(false, std::memory_order_release);
}

std::vector<StopReport::Job> SettleLoop::report() {
    std::vector<StopReport::Job> report = std::move(report_);
    std::vector<Decided> unwritten = parts_.queue->take(static_cast<std::size_t>(-1));
    for (Batch& batch : batches_) std::move(batch.decided.begin(), batch.decided.end(), std::back_inserter(unwritten));
    for (const Decided& decided : unwritten) {
        report.push_back(fate_of(decided, StopReport::Fate::left));
        report.back().why = "its outcome could not be written: the database was away";
    }
    return report;
}

}  // namespace pawl::runtime
