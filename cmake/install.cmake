# What `cmake --install` lays down: headers, libmercer, the tool with its completion and manual page, and a package that find_package(mercer) finds.
# A Python wheel carries its own static copy inside the extension module and wants none of this.
if(SKBUILD OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mercer)

install(TARGETS mercer EXPORT mercer_targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mercer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT mercer_targets NAMESPACE mercer:: FILE mercerTargets.cmake DESTINATION ${package_dir})

# The installed tool finds the library beside it, wherever the prefix is moved to.
if(TARGET mercer_cli)
  file(RELATIVE_PATH library_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(mercer_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_bin}")
  install(TARGETS mercer_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(MERCER_WORDS)
    install(FILES ${MERCER_WORDS}/mercer DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
    install(FILES ${MERCER_WORDS}/_mercer DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
    install(FILES ${MERCER_WORDS}/mercer.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()

# A static libmercer needs its libraries named again by whoever links it; a shared one brings them along.
get_target_property(mercer_type mercer TYPE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mercerConfig.cmake.in ${PROJECT_BINARY_DIR}/mercerConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mercerConfigVersion.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mercerConfig.cmake ${PROJECT_BINARY_DIR}/mercerConfigVersion.cmake DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/mercer)

if(MERCER_BUILD_TESTS)
  add_test(NAME install.find_package COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(install.find_package PROPERTIES LABELS install TIMEOUT 600
    ENVIRONMENT "CMAKE_COMMAND=${CMAKE_COMMAND};CXX=${CMAKE_CXX_COMPILER}")
endif()
