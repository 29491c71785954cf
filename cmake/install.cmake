# What `cmake --install` puts under the prefix: headers, the libraries, the command line and what shells need to complete
# it, CMake and pkg-config files.
include(CMakePackageConfigHelpers)

# Builds what is installed, without tests and benchmarks.
add_custom_target(anyshape_package)
add_dependencies(anyshape_package anyshape anyshape_static anyshape_mql5)

install(TARGETS anyshape anyshape_mql5 EXPORT anyshape-targets)
install(TARGETS anyshape_static EXPORT anyshape-static-targets)
install(DIRECTORY include/anyshape TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
if(TARGET anyshape_cli)
  file(RELATIVE_PATH lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(anyshape_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
  install(TARGETS anyshape_cli)
  add_dependencies(anyshape_package anyshape_cli)
  if(NOT CMAKE_CROSSCOMPILING)
    set(completions ${CMAKE_BINARY_DIR}/completions)
    add_custom_command(
      OUTPUT ${completions}/anyshape ${completions}/_anyshape
      COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
      COMMAND anyshape_cli completion bash -o ${completions}/anyshape
      COMMAND anyshape_cli completion zsh -o ${completions}/_anyshape
      DEPENDS anyshape_cli VERBATIM)
    add_custom_target(anyshape_completions ALL DEPENDS ${completions}/anyshape ${completions}/_anyshape)
    add_dependencies(anyshape_package anyshape_completions)
    install(FILES ${completions}/anyshape DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${completions}/_anyshape DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  endif()
endif()

# Not installed (pip does that), but live tests import it from the build tree.
if(TARGET anyshape_python)
  add_dependencies(anyshape_package anyshape_python)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/anyshape)
configure_package_config_file(cmake/anyshape-config.cmake.in ${CMAKE_BINARY_DIR}/package/anyshape-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/anyshape-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(EXPORT anyshape-targets NAMESPACE anyshape:: DESTINATION ${package_dir})
install(EXPORT anyshape-static-targets NAMESPACE anyshape:: DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/package/anyshape-config.cmake
              ${CMAKE_BINARY_DIR}/package/anyshape-config-version.cmake
        DESTINATION ${package_dir})

# The .pc file finds its prefix from its own place, so a moved installation still works.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name anyshape anyshape-mql5)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
