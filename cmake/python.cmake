# The Python package, importable below build/release/python: the extension module beside links to
# python/pawl, so that a changed .py needs no build. Release builds only, as what is installed.

# The one that tools and tests run on, whatever else the machine has.
if(NOT DEFINED Python3_EXECUTABLE)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

set(python_folder ${CMAKE_BINARY_DIR}/python/pawl)
file(MAKE_DIRECTORY ${python_folder})
file(GLOB python_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/pawl/*.py
  ${CMAKE_SOURCE_DIR}/python/pawl/*.pyi ${CMAKE_SOURCE_DIR}/python/pawl/py.typed)
foreach(file IN LISTS python_files)
  get_filename_component(name ${file} NAME)
  file(CREATE_LINK ${file} ${python_folder}/${name} SYMBOLIC)
endforeach()

Python3_add_library(pawl_module MODULE WITH_SOABI src/python/module_main.cc)
target_link_libraries(pawl_module PRIVATE pawl_python)
set_target_properties(pawl_module PROPERTIES OUTPUT_NAME _pawl CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${python_folder})
# Nothing of ours is offered to other modules of the interpreter.
target_link_options(pawl_module PRIVATE -s -Wl,--exclude-libs,ALL)
