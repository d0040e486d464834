# The rooms and who may use whom. tests/house checks the same rule on the #include lines.

find_package(Boost 1.81 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_library(HIREDIS hiredis REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_library(NATS nats REQUIRED)
find_package(CURL 7.87 REQUIRED)

# The inside: no IO, no clock, no thread, no randomness.
pawl_room(base PURE)
pawl_room(core PURE USES base FOLDERS src/core/limit src/core/http src/core/audit src/core/request
  src/core/upstream src/core/retry src/core/idempotency src/core/execution src/core/webhook src/core/order
  src/core/queue)
pawl_room(port USES base core)
pawl_room(runtime USES base core port TEST_USES adapter_memory)

# The world: one room a library.
pawl_room(config USES base core LIBRARIES yaml-cpp)
pawl_room(log USES base core port runtime LIBRARIES spdlog::spdlog fmt::fmt)
pawl_room(metrics USES base LIBRARIES prometheus-cpp::core)
pawl_room(net USES base LIBRARIES Boost::headers OpenSSL::SSL Threads::Threads)
pawl_room(server USES base core port net TEST_USES runtime)
pawl_room(admin USES base core port runtime server metrics TEST_USES adapter_memory net)
pawl_room(gateway USES base core port runtime net server admin config log metrics LIBRARIES Threads::Threads
  TEST_USES adapter_memory)

# Venues: wire mapping and calls; the desk in runtime decides.
pawl_room(venue USES base core port net FOLDERS src/venue/common src/venue/saxo src/venue/okx
  LIBRARIES Threads::Threads TEST_USES runtime adapter_memory)

# Venues that are none: what they answer, and the servers around it.
pawl_room(emulator_core PURE FOLDERS src/emulator/core USES base)
pawl_room(emulator USES base core port net server emulator_core LIBRARIES Threads::Threads)

# What stands behind the ports: one room a backend.
pawl_room(adapter_system FOLDERS src/adapter/system USES base port LIBRARIES cctz Threads::Threads)
pawl_room(adapter_memory FOLDERS src/adapter/memory USES base core port TEST_USES adapter_system)
pawl_room(adapter_file FOLDERS src/adapter/file USES base core port LIBRARIES Threads::Threads)
pawl_room(adapter_redis FOLDERS src/adapter/redis USES base core port net
  LIBRARIES ${HIREDIS} Threads::Threads)
pawl_room(adapter_nats FOLDERS src/adapter/nats USES base core port
  LIBRARIES ${NATS} Threads::Threads)
pawl_room(adapter_sqlite FOLDERS src/adapter/sqlite USES base core port
  LIBRARIES SQLite::SQLite3 Threads::Threads)
pawl_room(adapter_curl FOLDERS src/adapter/curl USES base core port
  LIBRARIES CURL::libcurl Threads::Threads)
pawl_room(adapter_directory FOLDERS src/adapter/directory USES base core port adapter_file
  LIBRARIES Threads::Threads TEST_USES adapter_system)
pawl_room(adapter_process FOLDERS src/adapter/process USES base core port adapter_file
  LIBRARIES Threads::Threads)
pawl_room(adapter_s3 FOLDERS src/adapter/s3 USES base core port
  TEST_USES adapter_curl adapter_system)

# Opens what a setting names, for the binary and for libpawl.
pawl_room(assembly USES base core port net runtime venue adapter_system adapter_memory adapter_file
  adapter_sqlite adapter_redis adapter_nats adapter_curl adapter_directory adapter_s3)

# What include/pawl promises; cmake/package.cmake makes libpawl of it.
pawl_room(library USES base core port net runtime venue assembly adapter_memory adapter_system)

# What the Python package (python/pawl) is written on; cmake/python.cmake makes the module.
pawl_room(python USES base library)

# For tests: a proxy that spoils traffic on purpose.
if(PAWL_TESTS)
  pawl_room(fault_proxy FOLDERS tests/fault_proxy USES base LIBRARIES Threads::Threads)
  add_executable(fault_proxy tests/fault_proxy/fault_proxy_main.cc)
  target_link_libraries(fault_proxy PRIVATE pawl_fault_proxy)

  # For tests: one of several processes that share a session's pace.
  add_executable(paced_sender tests/pacer/paced_sender_main.cc)
  target_link_libraries(paced_sender PRIVATE
    pawl_runtime pawl_adapter_system pawl_adapter_sqlite pawl_adapter_redis)

  # For tests: desk and venues against the emulated exchanges, by virtual time.
  pawl_room(campaign FOLDERS tests/campaign
    USES base core port runtime venue emulator_core adapter_memory adapter_sqlite)

  # For tests: a program that used a key.
  add_executable(record_keeper tests/e2e/record_keeper_main.cc)
  target_link_libraries(record_keeper PRIVATE pawl_assembly pawl_adapter_system)

  # For tests: sends webhooks, and may be killed.
  add_executable(webhook_sender tests/e2e/webhook_sender_main.cc)
  target_link_libraries(webhook_sender PRIVATE
    pawl_runtime pawl_assembly pawl_adapter_system pawl_adapter_sqlite pawl_adapter_curl)

  # For tests: makes operations under keys, and dies where it is told to.
  add_executable(crashing_executor tests/crash/crashing_executor_main.cc)
  target_link_libraries(crashing_executor PRIVATE
    pawl_library pawl_runtime pawl_adapter_system pawl_adapter_memory pawl_adapter_file
    pawl_adapter_sqlite pawl_adapter_redis pawl_adapter_nats)

  # For tests: lets operations sleep and go on, and dies where it is told to.
  add_executable(crashing_sleeper tests/crash/crashing_sleeper_main.cc)
  target_link_libraries(crashing_sleeper PRIVATE
    pawl_library pawl_runtime pawl_assembly pawl_adapter_system pawl_adapter_memory
    pawl_adapter_file pawl_adapter_sqlite pawl_adapter_redis pawl_adapter_nats)

  # For tests: one of several processes that append to one log, and may be killed.
  add_executable(queue_appender tests/crash/queue_appender_main.cc)
  target_link_libraries(queue_appender PRIVATE pawl_runtime pawl_assembly pawl_adapter_system)

  # For tests: works on a queue by a clock that is wrong.
  add_executable(queue_skewed tests/crash/queue_skewed_main.cc)
  target_link_libraries(queue_skewed PRIVATE pawl_runtime pawl_assembly pawl_adapter_system)

  # Counts allocations, by an operator new that would blunt the sanitizers elsewhere, and that the
  # thread sanitizer, which has one of its own, cannot be linked with.
  if(NOT PAWL_SANITIZE STREQUAL "thread")
    pawl_room(allocation FOLDERS tests/allocation TEST_USES runtime adapter_memory library gateway)
  endif()
endif()

# The simulator: the same core and runtime, in a world without an operating system.
pawl_room(sim FOLDERS sim USES base core port runtime)

# The one binary; with assembly the only place that names every adapter.
find_package(CLI11 REQUIRED)
pawl_room(cli USES base core port runtime sim config log metrics net server gateway venue assembly emulator
  adapter_system adapter_memory adapter_file adapter_sqlite adapter_redis adapter_nats adapter_curl
  adapter_directory adapter_s3 adapter_process
  LIBRARIES CLI11::CLI11)

add_executable(pawl src/cli/pawl_main.cc)
target_link_libraries(pawl PRIVATE pawl_cli)

if(NOT PAWL_SANITIZE)
  # Every x_bench.cc of the tree; those in bench/ are of peers, or drive several rooms.
  find_library(ROCKSDB rocksdb REQUIRED)
  get_property(bench_sources GLOBAL PROPERTY PAWL_BENCH_SOURCES)
  file(GLOB peer_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*_bench.cc)
  add_executable(pawl_bench ${bench_sources} ${peer_sources})
  target_link_libraries(pawl_bench PRIVATE pawl_cli pawl_library ${ROCKSDB} benchmark::benchmark_main)

  # One of the processes that put the queue under load; tools/compare runs it.
  add_executable(queue_load bench/queue_load_main.cc)
  target_link_libraries(queue_load PRIVATE pawl_library)
endif()
