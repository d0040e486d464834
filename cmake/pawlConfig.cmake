# find_package(pawl) gives pawl::pawl.
include(CMakeFindDependencyMacro)
find_dependency(CURL)
find_dependency(OpenSSL)
find_dependency(SQLite3)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/pawlTargets.cmake")
