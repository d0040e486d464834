# One function builds every room of the house. A folder's files are found by their names:
#   x.cc  the room's library        x_test.cc  its one test binary
#   x_fuzz.cc  a fuzzer (fuzz preset)   x_bench.cc  the one benchmark binary
# so a new file needs no line in any CMakeLists.txt.

find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
find_package(benchmark REQUIRED)
find_package(rapidcheck REQUIRED)

set_property(GLOBAL PROPERTY PAWL_BENCH_SOURCES "")

# pawl_room(NAME [FOLDERS a b …] [USES room …] [LIBRARIES lib …] [PURE])
#   FOLDERS    below src/ (default: NAME)
#   USES       other rooms, in the direction the include rule allows
#   LIBRARIES  third-party libraries, linked into the .cc files only
#   PURE       no exceptions; its archive is checked with nm by the house rules
function(pawl_room name)
  cmake_parse_arguments(ROOM "PURE" "" "FOLDERS;USES;LIBRARIES;TEST_USES;TEST_LIBRARIES" ${ARGN})
  if(NOT ROOM_FOLDERS)
    set(ROOM_FOLDERS src/${name})
  endif()
  set(sources "")
  set(tests "")
  foreach(folder IN LISTS ROOM_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
    foreach(file IN LISTS found)
      if(file MATCHES "_test\\.cc$")
        list(APPEND tests ${file})
      elseif(file MATCHES "_fuzz\\.cc$")
        pawl_fuzzer(${file} pawl_${name})
      elseif(file MATCHES "_bench\\.cc$")
        set_property(GLOBAL APPEND PROPERTY PAWL_BENCH_SOURCES ${file})
      elseif(NOT file MATCHES "_main\\.cc$")
        list(APPEND sources ${file})
      endif()
    endforeach()
  endforeach()

  list(TRANSFORM ROOM_USES PREPEND pawl_)
  if(sources)
    add_library(pawl_${name} STATIC ${sources})
    target_link_libraries(pawl_${name} PUBLIC pawl_flags ${ROOM_USES} PRIVATE ${ROOM_LIBRARIES})
    if(PAWL_FUZZ)
      set_target_properties(pawl_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)  # fuzzers pull what they need
    endif()
    if(ROOM_PURE)
      target_compile_options(pawl_${name} PRIVATE -fno-exceptions)
    endif()
  else()
    add_library(pawl_${name} INTERFACE)
    target_link_libraries(pawl_${name} INTERFACE pawl_flags ${ROOM_USES})
  endif()

  if(tests AND PAWL_TESTS)
    list(TRANSFORM ROOM_TEST_USES PREPEND pawl_)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE pawl_${name} ${ROOM_TEST_USES} ${ROOM_TEST_LIBRARIES}
      GTest::gmock GTest::gtest_main rapidcheck)
    target_compile_definitions(${name}_tests PRIVATE PAWL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(PAWL_SANITIZE)
      # Property tests are all templates: without optimising them a sanitized build takes half as long.
      target_compile_options(${name}_tests PRIVATE -O0)
    endif()
    add_test(NAME ${name} COMMAND ${name}_tests)
  endif()
endfunction()

function(pawl_fuzzer file library)
  if(NOT PAWL_FUZZ)
    return()
  endif()
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE ${library})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
endfunction()
