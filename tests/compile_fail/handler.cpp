#include <string_view>

#include <pawl/pawl.hpp>

struct Charge {
    static constexpr std::string_view kind = "charge";
    int id{};
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Charge, id)
};

struct Other {};

struct NoCodec {
    static constexpr std::string_view kind = "no_codec";
    int id{};
};

struct Service {
    void charge(const Charge&) {}
    void other(const Other&) {}
};

void cases(pawl::Scheduler& scheduler, Service& service) {
    scheduler.on<Charge>([](const Charge&, pawl::JobContext&) {}).with_max_retries(1);
    scheduler.on<Charge>(service, &Service::charge);

#ifdef CASE_HANDLER_OF_ANOTHER_TYPE  // error: a handler takes the job as const T& or T
    scheduler.on<Charge>([](const Other&) {});
#endif
#ifdef CASE_HANDLER_THAT_CHANGES_THE_JOB  // error: a handler takes the job as const T& or T
    scheduler.on<Charge>([](Charge&) {});
#endif
#ifdef CASE_HANDLER_OF_A_POINTER  // error: a handler takes the job as const T& or T
    scheduler.on<Charge>([](const Charge*) {});
#endif
#ifdef CASE_HANDLER_WITHOUT_ARGUMENTS  // error: a handler takes the job as const T& or T
    scheduler.on<Charge>([] {});
#endif
#ifdef CASE_HANDLER_WITH_TOO_MANY_ARGUMENTS  // error: a handler takes the job as const T& or T
    scheduler.on<Charge>([](const Charge&, pawl::JobContext&, int) {});
#endif
#ifdef CASE_HANDLER_OF_THE_CONTEXT_FIRST  // error: a handler takes the job as const T& or T
    scheduler.on<Charge>([](pawl::JobContext&, const Charge&) {});
#endif
#ifdef CASE_HANDLER_THAT_CHANGES_ITSELF  // error: it is called as const
    scheduler.on<Charge>([count = 0](const Charge&) mutable { ++count; });
#endif
#ifdef CASE_HANDLER_THAT_RETURNS_A_POINTER  // error: a handler cannot return a pointer
    scheduler.on<Charge>([](const Charge& job) { return &job; });
#endif
#ifdef CASE_HANDLER_THAT_RETURNS_SOMETHING_ELSE  // error: a handler returns void, pawl::Snooze
    scheduler.on<Charge>([](const Charge&) { return NoCodec{}; });
#endif
#ifdef CASE_MEMBER_OF_ANOTHER_TYPE  // error: a member function takes the job as const T& or T
    scheduler.on<Charge>(service, &Service::other);
#endif
#ifdef CASE_MEMBER_OF_A_TEMPORARY  // error: no matching
    scheduler.on<Charge>(Service{}, &Service::charge);
#endif
#ifdef CASE_JOB_WITHOUT_CODEC  // error: this job type has no pawl::Codec
    scheduler.on<NoCodec>([](const NoCodec&) {});
#endif
#ifdef CASE_JOB_WITHOUT_KIND  // error: a job type has a stored name
    scheduler.on<Other>([](const Other&) {});
#endif
}
