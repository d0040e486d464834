# The rooms and who may use whom. tests/house checks the same rule on the #include lines.

# The inside: no IO, no clock, no thread, no randomness.
pawl_room(base PURE)
pawl_room(core PURE USES base FOLDERS src/core/limit src/core/http src/core/audit src/core/request)
pawl_room(port USES base core)
pawl_room(runtime USES base core port)

# What stands behind the ports: one room a backend.
pawl_room(adapter_system FOLDERS src/adapter/system USES base port)
pawl_room(adapter_memory FOLDERS src/adapter/memory USES base core port)
pawl_room(adapter_file FOLDERS src/adapter/file USES base core port LIBRARIES Threads::Threads)
