#include <utility>

#include <pawl/job_builder.hpp>

#include "api/job_builder_impl.hpp"

namespace pawl {

JobBuilder::JobBuilder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
JobBuilder::JobBuilder(JobBuilder&&) noexcept = default;
JobBuilder& JobBuilder::operator=(JobBuilder&&) noexcept = default;
JobBuilder::~JobBuilder() = default;

JobBuilder& JobBuilder::with_queue(std::string_view queue) & {
    model::validate_queue(queue);
    impl_->spec.queue = queue;
    return *this;
}

JobBuilder& JobBuilder::with_priority(Priority priority) & {
    model::validate_priority(priority);
    impl_->spec.priority = priority;
    return *this;
}

JobBuilder& JobBuilder::with_delay(Duration delay) & {
    model::validate_delay(delay);
    impl_->spec.due = delay;
    return *this;
}

JobBuilder& JobBuilder::due_at(Duration since_epoch) {
    impl_->spec.due = model::due_time(since_epoch);
    return *this;
}

JobBuilder& JobBuilder::with_max_retries(int retries) & {
    model::validate_retries(retries);
    impl_->spec.max_retries = retries;
    return *this;
}

JobBuilder& JobBuilder::with_backoff(Backoff backoff) & {
    model::validate_stored_backoff(backoff);
    impl_->spec.backoff = std::move(backoff);
    return *this;
}

JobBuilder& JobBuilder::with_timeout(Duration timeout) & {
    model::validate_timeout(timeout);
    impl_->spec.timeout = timeout;
    return *this;
}

JobBuilder& JobBuilder::with_tags(std::vector<std::string> tags) & {
    // The new ones come first, so that an error counts them as the caller does.
    tags.insert(tags.end(), impl_->spec.tags.begin(), impl_->spec.tags.end());
    impl_->spec.tags = model::normal_tags(std::move(tags));
    return *this;
}

JobBuilder& JobBuilder::with_param(std::string_view key, std::string_view text) & {
    auto params = impl_->spec.params;
    params.insert_or_assign(std::string(key), std::string(text));
    model::validate_params(params);
    impl_->spec.params = std::move(params);
    return *this;
}

JobBuilder& JobBuilder::on_failure(std::string_view name) & {
    model::validate_kind(name, "on_failure");
    impl_->spec.on_failure = name;
    return *this;
}

JobBuilder& JobBuilder::on_success(std::string_view name) & {
    model::validate_kind(name, "on_success");
    impl_->spec.on_success = name;
    return *this;
}

JobHandle JobBuilder::submit() {
    const auto ids = impl_->store->enqueue({impl_->spec, {&impl_->payload, 1}});
    return {ids.at(0), impl_->spec.kind};
}

JobHandle JobBuilder::submit(pqxx::dbtransaction& transaction) {
    const auto ids = impl_->store->enqueue(transaction, {impl_->spec, {&impl_->payload, 1}});
    return {ids.at(0), impl_->spec.kind};
}

}  // namespace pawl
