# One function builds every room of the house. A folder's files are found by their names:
#   x.cc  the room's library        x_test.cc  its one test binary
#   x_server_test.cc  its other test binary, for what needs real servers (tools/test starts them)
#   x_fuzz.cc  a fuzzer (asan preset)   x_bench.cc  the one benchmark binary
# so a new file needs no line in any CMakeLists.txt.

find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
find_package(benchmark REQUIRED)
find_package(rapidcheck REQUIRED)

set_property(GLOBAL PROPERTY PAWL_BENCH_SOURCES "")

# What most files include. A header that was compiled with other options cannot be used, so there is
# one compilation of it for each way a file is compiled.
set(common_headers <algorithm> <array> <atomic> <chrono> <condition_variable> <expected> <fstream>
  <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
  <unordered_map> <utility> <variant> <vector>)
set(test_headers <gmock/gmock.h> <gtest/gtest.h> <rapidcheck.h> <rapidcheck/gtest.h>)

# pawl_compiled_as(NAME [HEADERS h …] [OPTIONS o …] [LIBRARIES lib …]): a way to compile, for
# pawl_compile_as().
function(pawl_compiled_as way)
  cmake_parse_arguments(WAY "" "" "HEADERS;OPTIONS;LIBRARIES" ${ARGN})
  add_library(pawl_as_${way} INTERFACE)
  target_compile_options(pawl_as_${way} INTERFACE ${WAY_OPTIONS})
  target_link_libraries(pawl_as_${way} INTERFACE pawl_flags ${WAY_LIBRARIES})
  if(PAWL_PRECOMPILE)
    # For ccache; and programs as libraries are, so that they can share.
    target_compile_options(pawl_as_${way} INTERFACE -Xclang -fno-pch-timestamp -fPIC)
    file(WRITE ${CMAKE_BINARY_DIR}/nothing.cc "")
    add_library(pawl_headers_${way} OBJECT ${CMAKE_BINARY_DIR}/nothing.cc)
    target_link_libraries(pawl_headers_${way} PRIVATE pawl_as_${way})
    target_precompile_headers(pawl_headers_${way} PRIVATE ${common_headers} ${WAY_HEADERS})
  endif()
endfunction()

function(pawl_compile_as way target)
  target_link_libraries(${target} PRIVATE pawl_as_${way})
  if(PAWL_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM pawl_headers_${way})
  endif()
endfunction()

if(PAWL_FUZZ)
  set(fuzzed -fsanitize=fuzzer-no-link)
endif()
# Property tests are all templates: without optimising them a sanitized build takes half as long, and
# with little of it a release build a fifth less. What they test is compiled as it is shipped.
if(PAWL_SANITIZE)
  set(quickly_compiled -O0)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(quickly_compiled -O1)
endif()
pawl_compiled_as(pure OPTIONS -fno-exceptions ${fuzzed})
pawl_compiled_as(room OPTIONS ${fuzzed})
pawl_compiled_as(test OPTIONS ${quickly_compiled} HEADERS ${test_headers}
  LIBRARIES GTest::gmock GTest::gtest_main rapidcheck)

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
  set(server_tests "")
  foreach(folder IN LISTS ROOM_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
    foreach(file IN LISTS found)
      if(file MATCHES "_server_test\\.cc$")
        list(APPEND server_tests ${file})
      elseif(file MATCHES "_test\\.cc$")
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
    if(ROOM_PURE)
      pawl_compile_as(pure pawl_${name})
    else()
      pawl_compile_as(room pawl_${name})
    endif()
  else()
    add_library(pawl_${name} INTERFACE)
    target_link_libraries(pawl_${name} INTERFACE pawl_flags ${ROOM_USES})
  endif()

  if(ROOM_PURE AND PAWL_SANITIZE STREQUAL "thread")
    return()  # nm shows that there is no thread in it
  endif()
  list(TRANSFORM ROOM_TEST_USES PREPEND pawl_)
  set(libraries pawl_${name} ${ROOM_TEST_USES} ${ROOM_TEST_LIBRARIES})
  pawl_tests(${name}_tests "${tests}" "${libraries}")
  pawl_tests(${name}_server_tests "${server_tests}" "${libraries}")
  if(TARGET ${name}_tests)
    add_test(NAME ${name} COMMAND ${name}_tests)
  endif()
endfunction()

function(pawl_tests program files libraries)
  if(NOT files OR NOT PAWL_TESTS)
    return()
  endif()
  add_executable(${program} ${files})
  target_link_libraries(${program} PRIVATE ${libraries})
  pawl_compile_as(test ${program})
  foreach(file IN LISTS files)
    # Only those that ask: the others are the same in every clone, for ccache.
    file(STRINGS ${file} asks REGEX PAWL_SOURCE_DIR)
    if(asks)
      set_property(SOURCE ${file} APPEND PROPERTY
        COMPILE_DEFINITIONS PAWL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    endif()
  endforeach()
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
