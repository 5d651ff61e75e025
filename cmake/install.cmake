# What `cmake --install` puts where: headers, libraries, the command with its manual, and the files by
# which find_package and pkg-config find them.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/arenaut DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS arenaut_static arenaut_shared arenaut_runtime EXPORT arenaut
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT arenaut NAMESPACE arenaut:: FILE arenaut-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arenaut)
configure_package_config_file(cmake/arenaut-config.cmake.in arenaut-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arenaut)
write_basic_package_version_file(arenaut-config-version.cmake COMPATIBILITY SameMajorVersion)
# `cmake --install --prefix` comes after this is written, so the file finds its own place.
file(RELATIVE_PATH pc_to_prefix "/x/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /x)
configure_file(cmake/arenaut.pc.in arenaut.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/arenaut-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/arenaut-config-version.cmake
              cmake/arenaut-model.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arenaut)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/arenaut.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(ARENAUT_TOOL)
  install(TARGETS arenaut_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(ARENAUT_TOOL AND NOT CMAKE_CROSSCOMPILING)
  include(cmake/manual.cmake)
endif()
if(TARGET arenaut_replay)
  install(TARGETS arenaut_replay arenaut_gpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
