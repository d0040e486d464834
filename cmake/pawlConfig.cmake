# find_package(pawl) gives pawl::pawl.
include("${CMAKE_CURRENT_LIST_DIR}/pawlTargets.cmake")
