#include <string>
#include <string_view>
#include <vector>

#include <pqxx/pqxx>

#include <pawl/pawl.hpp>

struct Charge {
    static constexpr std::string_view kind = "charge";
    int id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Charge, id)
};

struct NoKind {
    int id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(NoKind, id)
};

struct NoCodec {
    static constexpr std::string_view kind = "no_codec";
    int id{};
};

void resize(const std::string& path, int width);
inline constexpr pawl::Task resize_task{"resize", &resize};

void cases(pawl::Scheduler& scheduler, pqxx::work& work, pqxx::nontransaction& autocommit, pqxx::transaction_base& any,
           const std::vector<Charge>& charges) {
    static_cast<void>(scheduler.enqueue(Charge{1}).with_queue("mail").submit(work));
    static_cast<void>(scheduler.enqueue(resize_task, "a.png", 640).submit());
    static_cast<void>(scheduler.enqueue_many(work, charges));
    static_cast<void>(autocommit);
    static_cast<void>(any);

#ifdef CASE_SUBMIT_IN_AUTOCOMMIT  // error: use of deleted function | deleted member function | call to deleted
    scheduler.enqueue(Charge{1}).submit(autocommit);
#endif
#ifdef CASE_SUBMIT_IN_ANY_TRANSACTION  // error: use of deleted function | deleted member function | call to deleted
    scheduler.enqueue(Charge{1}).submit(any);
#endif
#ifdef CASE_ENQUEUE_MANY_IN_AUTOCOMMIT  // error: use of deleted function | call to deleted
    scheduler.enqueue_many(autocommit, charges);
#endif
#ifdef CASE_BUILDER_DROPPED  // error: call submit()
    scheduler.enqueue(Charge{1});
#endif
#ifdef CASE_BUILDER_DROPPED_AFTER_WITH  // error: call submit()
    scheduler.enqueue(Charge{1}).with_queue("mail");
#endif
#ifdef CASE_TASK_DROPPED  // error: call submit()
    scheduler.enqueue(resize_task, "a.png", 640);
#endif
#ifdef CASE_BUILDER_COPIED  // error: use of deleted function | call to deleted
    auto builder = scheduler.enqueue(Charge{1});
    auto copy = builder;
#endif
#ifdef CASE_JOB_WITHOUT_KIND  // error: a job type has a stored name
    static_cast<void>(scheduler.enqueue(NoKind{1}));
#endif
#ifdef CASE_JOB_WITHOUT_CODEC  // error: this job type has no pawl::Codec
    static_cast<void>(scheduler.enqueue(NoCodec{1}));
#endif
#ifdef CASE_NO_JOB_AT_ALL  // error: a job type has a stored name
    static_cast<void>(scheduler.enqueue(42));
#endif
#ifdef CASE_TASK_WITH_TOO_FEW_ARGUMENTS  // error: no matching
    static_cast<void>(scheduler.enqueue(resize_task, "a.png"));
#endif
#ifdef CASE_TASK_WITH_TOO_MANY_ARGUMENTS  // error: no matching
    static_cast<void>(scheduler.enqueue(resize_task, "a.png", 1, 2));
#endif
#ifdef CASE_TASK_WITH_WRONG_ARGUMENT  // error: no matching
    static_cast<void>(scheduler.enqueue(resize_task, "a.png", "wide"));
#endif
#ifdef CASE_SUBSCRIPTION_DROPPED  // error: a subscription ends when it is destroyed
    scheduler.on_event<pawl::JobFailed>([](const pawl::JobFailed&) {});
#endif
#ifdef CASE_SUBSCRIPTION_TO_SOMETHING_ELSE  // error: takes one of the events
    auto subscription = scheduler.on_event<int>([](const int&) {});
#endif
#ifdef CASE_SCHEDULER_COPIED  // error: use of deleted function | call to deleted
    pawl::Scheduler copy(scheduler);
#endif
}
