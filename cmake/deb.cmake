# Called by cpack before it packs: what Debian wants of a package and a plain tree does not need.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(changelog ${usr}/share/doc/pawl/changelog)
configure_file(${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md ${changelog} COPYONLY)
execute_process(COMMAND gzip -9n ${usr}/share/man/man1/pawl.1 ${changelog}
  COMMAND_ERROR_IS_FATAL ANY)
