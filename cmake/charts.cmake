# The chart libraries of reports, bundled into one script by node and embedded into libmercer as bytes. Without web/node_modules
# (or without node) everything still builds; reports then say how to get charts.
find_program(NODE_EXECUTABLE NAMES node nodejs)
mark_as_advanced(NODE_EXECUTABLE)
set(MERCER_CHARTS OFF)
if(NODE_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/web/node_modules/esbuild/package.json AND EXISTS ${PROJECT_SOURCE_DIR}/web/node_modules/vega-embed/package.json)
  set(MERCER_CHARTS ON)
endif()

if(TARGET mercer_report AND MERCER_CHARTS)
  set(bundle ${PROJECT_BINARY_DIR}/charts/charts.js)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/charts)
  add_custom_command(
    OUTPUT ${bundle}
    COMMAND ${NODE_EXECUTABLE} ${PROJECT_SOURCE_DIR}/web/bundle.mjs ${bundle}
    DEPENDS ${PROJECT_SOURCE_DIR}/web/bundle.mjs ${PROJECT_SOURCE_DIR}/web/charts.js ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Bundling the chart libraries" VERBATIM)
  # .incbin costs nothing to compile, where a megabyte of C array costs seconds. ASM has no launcher, so ccache never sees it.
  configure_file(${PROJECT_SOURCE_DIR}/web/charts.S.in ${PROJECT_BINARY_DIR}/charts/charts.S @ONLY)
  set_source_files_properties(${PROJECT_BINARY_DIR}/charts/charts.S PROPERTIES OBJECT_DEPENDS ${bundle} COMPILE_OPTIONS "-w")
  target_sources(mercer_report PRIVATE ${PROJECT_BINARY_DIR}/charts/charts.S ${bundle})
  target_compile_definitions(mercer_report PRIVATE MERCER_CHARTS)
elseif(TARGET mercer_report)
  message(STATUS "Reports will have no charts: run `npm ci` in web/ and configure again")
endif()
