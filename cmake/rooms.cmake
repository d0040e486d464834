# The rooms and who may use whom. tests/house checks the same rule on the #include lines.

find_package(Boost 1.81 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(prometheus-cpp REQUIRED)

# The inside: no IO, no clock, no thread, no randomness.
pawl_room(base PURE)
pawl_room(core PURE USES base FOLDERS src/core/limit src/core/http src/core/audit src/core/request)
pawl_room(port USES base core)
pawl_room(runtime USES base core port)

# The world: one room a library.
pawl_room(config USES base core LIBRARIES yaml-cpp)
pawl_room(log USES base port LIBRARIES spdlog::spdlog fmt::fmt)
pawl_room(metrics USES base LIBRARIES prometheus-cpp::core)
pawl_room(net USES base LIBRARIES Boost::headers Threads::Threads)
pawl_room(server USES base core port net TEST_USES runtime)
pawl_room(gateway USES base core port runtime net server config log metrics LIBRARIES Threads::Threads
  TEST_USES adapter_memory)

# What stands behind the ports: one room a backend.
pawl_room(adapter_system FOLDERS src/adapter/system USES base port)
pawl_room(adapter_memory FOLDERS src/adapter/memory USES base core port)
pawl_room(adapter_file FOLDERS src/adapter/file USES base core port LIBRARIES Threads::Threads)

# What include/pawl promises; cmake/package.cmake makes libpawl of it.
pawl_room(library USES base core port adapter_memory adapter_system)

# For tests: a proxy that spoils traffic on purpose.
if(PAWL_TESTS)
  pawl_room(fault_proxy FOLDERS tests/fault_proxy USES base LIBRARIES Threads::Threads)
  add_executable(fault_proxy tests/fault_proxy/fault_proxy_main.cc)
  target_link_libraries(fault_proxy PRIVATE pawl_fault_proxy)
endif()

# The one binary; the only place that names adapters.
find_package(CLI11 REQUIRED)
pawl_room(cli USES base core port runtime config log metrics net server gateway
  adapter_system adapter_memory adapter_file LIBRARIES CLI11::CLI11)

# The simulator: the same core and runtime, in a world without an operating system.
pawl_room(sim FOLDERS sim USES base core port runtime)

if(NOT PAWL_FUZZ)
  add_executable(pawl src/cli/pawl_main.cc)
  target_link_libraries(pawl PRIVATE pawl_cli)

  add_executable(simulator sim/pawl_sim_main.cc)
  set_target_properties(simulator PROPERTIES OUTPUT_NAME pawl_sim)
  target_link_libraries(simulator PRIVATE pawl_sim)

  # Every x_bench.cc of the tree.
  get_property(bench_sources GLOBAL PROPERTY PAWL_BENCH_SOURCES)
  add_executable(pawl_bench ${bench_sources})
  target_link_libraries(pawl_bench PRIVATE pawl_cli benchmark::benchmark_main)
endif()
