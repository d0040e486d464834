# What users get: `make install` and `make deb`. Release builds only, since the man page and the
# completions are printed by the binary itself.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# libpawl: one archive of the rooms behind include/pawl.
add_library(libpawl STATIC)
foreach(room IN ITEMS base core port runtime net venue adapter_memory adapter_system adapter_sqlite
    adapter_file adapter_redis adapter_nats adapter_curl adapter_directory adapter_s3 assembly library)
  target_sources(libpawl PRIVATE $<TARGET_OBJECTS:pawl_${room}>)
endforeach()
set_target_properties(libpawl PROPERTIES OUTPUT_NAME pawl EXPORT_NAME pawl LINKER_LANGUAGE CXX)
target_include_directories(libpawl INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(libpawl INTERFACE cxx_std_23)
target_link_libraries(libpawl INTERFACE SQLite::SQLite3 OpenSSL::SSL CURL::libcurl Threads::Threads
  hiredis nats cctz)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pawl)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pawlConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(TARGETS pawl)
install(TARGETS libpawl EXPORT pawlTargets)
install(EXPORT pawlTargets NAMESPACE pawl:: DESTINATION ${package_dir})
install(FILES cmake/pawlConfig.cmake ${CMAKE_BINARY_DIR}/pawlConfigVersion.cmake
  DESTINATION ${package_dir})
install(DIRECTORY include/pawl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)

# pawl_prints(FILE FOLDER VERB…): what `pawl VERB…` prints becomes FILE, installed in FOLDER.
set(printed "")
macro(pawl_prints file folder)
  set(path ${CMAKE_BINARY_DIR}/package/${file})
  add_custom_command(OUTPUT ${path} COMMAND pawl ${ARGN} > ${path} DEPENDS pawl VERBATIM)
  install(FILES ${path} DESTINATION ${folder})
  list(APPEND printed ${path})
endmacro()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
pawl_prints(pawl.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
pawl_prints(pawl ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completions bash)
pawl_prints(_pawl ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions completions zsh)
pawl_prints(pawl.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completions fish)
add_custom_target(printed ALL DEPENDS ${printed})

# What `make build` builds: all of the tree but tests and benchmarks.
add_custom_target(product DEPENDS printed pawl libpawl pawl_module)
file(CREATE_LINK release/pawl ${CMAKE_SOURCE_DIR}/build/pawl SYMBOLIC)

# Where Debian's Python looks below /usr and /usr/local alike.
set(python_dir lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/dist-packages/pawl)
install(TARGETS pawl_module LIBRARY DESTINATION ${python_dir}
  PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
install(FILES ${python_files} DESTINATION ${python_dir})

install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES examples/limiter.cc examples/executor.cc examples/orders.cc examples/queue.cc
  examples/durable_sleep.cc examples/durable_operation.cc examples/durable_sleep.py
  packaging/pawl.yaml
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The unit starts the binary that is installed with it.
install(CODE "
  file(READ \"${CMAKE_SOURCE_DIR}/packaging/pawl.service\" unit)
  string(REPLACE \"ExecStart=/usr/\" \"ExecStart=\${CMAKE_INSTALL_PREFIX}/\" unit \"\${unit}\")
  file(WRITE \"${CMAKE_BINARY_DIR}/package/pawl.service\" \"\${unit}\")")
install(FILES ${CMAKE_BINARY_DIR}/package/pawl.service DESTINATION lib/systemd/system)

# A configuration is the machine's own: only the .deb brings one, as a conffile.
install(FILES packaging/pawl.yaml DESTINATION /etc/pawl COMPONENT etc EXCLUDE_FROM_ALL)
set(CPACK_INSTALL_CMAKE_PROJECTS
  "${CMAKE_BINARY_DIR};pawl;ALL;/;${CMAKE_BINARY_DIR};pawl;etc;/")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/deb.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_CONTACT "pawl maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "gateway and library that pace what passes through them")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"pawl makes a side effect happen at the pace the other side allows, at most
once per intent, and can show afterwards why every decision was taken.
.
This package holds the pawl command, a systemd service that is off until it
is enabled, the C++ library for find_package(pawl), and the Python package.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR})")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/conffiles
  ${CMAKE_SOURCE_DIR}/packaging/postinst ${CMAKE_SOURCE_DIR}/packaging/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
