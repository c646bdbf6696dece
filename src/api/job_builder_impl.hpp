#pragma once

#include <memory>
#include <string>

#include <pawl/job_builder.hpp>

#include "model/job_spec.hpp"
#include "store/store.hpp"

namespace pawl {

struct JobBuilder::Impl {
    std::shared_ptr<store::Store> store;
    /// Every value in it is checked when it is set.
    model::JobSpec spec;
    std::string payload;
};

}  // namespace pawl
