#include <utility>

#include <fmt/format.h>

#include <pawl/errors.hpp>
#include <pawl/scheduler.hpp>

#include "api/job_builder_impl.hpp"
#include "api/scheduler_impl.hpp"
#include "model/job_spec.hpp"
#include "model/shown.hpp"

namespace pawl {

namespace {

model::JobSpec spec_of(const Scheduler::Impl& scheduler, const detail::KindInfo& info) {
    model::validate_kind(info.kind);
    if (info.payload_version < 0) throw ConfigError("payload_version", "must not be negative");
    // Before start() another thread could be registering.
    if (scheduler.registry.sealed().load(std::memory_order_acquire)) {
        const worker::Entry* entry = scheduler.registry.find(info.kind);
        if (entry != nullptr && *entry->type != *info.type) {
            throw ConfigError("kind", fmt::format("\"{}\" has a handler for another type than the one that is enqueued",
                                                  model::shown(info.kind)));
        }
    }
    model::JobSpec spec;
    spec.kind = info.kind;
    spec.payload_version = info.payload_version;
    return spec;
}

model::JobSpec spec_of(const Scheduler::Impl& scheduler, const detail::KindInfo& info, const EnqueueOptions& options) {
    model::JobSpec spec = spec_of(scheduler, info);
    spec.queue = options.queue;
    spec.priority = options.priority;
    spec.max_retries = options.max_retries;
    spec.backoff = options.backoff;
    spec.timeout = options.timeout;
    spec.tags = options.tags;
    spec.params = options.params;
    spec.on_failure = options.on_failure;
    spec.on_success = options.on_success;
    if (options.delay && options.run_at) throw ConfigError("delay", "is given together with run_at: give one of them");
    if (options.delay) spec.due = *options.delay;
    if (options.run_at) spec.due = *options.run_at;
    model::validate(spec);
    return spec;
}

}  // namespace

JobBuilder Scheduler::begin(const detail::KindInfo& info, std::string payload) {
    model::JobSpec spec = spec_of(*impl_, info);
    model::validate_payload(info.kind, payload, {impl_->options.max_payload});
    return JobBuilder(
        std::make_unique<JobBuilder::Impl>(JobBuilder::Impl{impl_->store, std::move(spec), std::move(payload)}));
}

std::vector<JobId> Scheduler::enqueue_texts(const detail::KindInfo& info, std::vector<std::string> payloads,
                                            const EnqueueOptions& options, pqxx::dbtransaction* transaction) {
    const model::JobSpec spec = spec_of(*impl_, info, options);
    for (const std::string& payload : payloads) {
        model::validate_payload(info.kind, payload, {impl_->options.max_payload});
    }
    if (payloads.empty()) return {};
    const store::Enqueue jobs{spec, payloads};
    return transaction == nullptr ? impl_->store->enqueue(jobs) : impl_->store->enqueue(*transaction, jobs);
}

EnqueueStatement Scheduler::statement(const detail::KindInfo& info, std::string payload,
                                      const EnqueueOptions& options) {
    const model::JobSpec spec = spec_of(*impl_, info, options);
    model::validate_payload(info.kind, payload, {impl_->options.max_payload});
    store::PlainStatement statement = impl_->store->enqueue_statement({spec, {&payload, 1}});
    return {std::move(statement.sql), std::move(statement.params)};
}

}  // namespace pawl
