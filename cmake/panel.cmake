# The panel: TypeScript and styles of panel/, bundled by esbuild into one source file that the admin
# room is linked with. Node is needed here and at no other time.

find_program(NODE node REQUIRED)
file(GLOB_RECURSE panel_files CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/panel/src/* ${CMAKE_SOURCE_DIR}/panel/style/*)
file(GLOB panel_parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/panel/*.*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/panel_assets.cc
  COMMAND ${CMAKE_SOURCE_DIR}/tools/panel ${CMAKE_BINARY_DIR}
  DEPENDS ${panel_files} ${panel_parts} ${CMAKE_SOURCE_DIR}/tools/panel
  COMMENT "Bundling the panel"
  VERBATIM)
target_sources(pawl_admin PRIVATE ${CMAKE_BINARY_DIR}/panel_assets.cc)
set_property(SOURCE ${CMAKE_BINARY_DIR}/panel_assets.cc PROPERTY SKIP_PRECOMPILE_HEADERS ON)
