# What the wheel holds besides python/arenaut: the library, the one to be preloaded, the command and
# the headers, all inside the package. pyproject.toml has arenaut_python built.
set(package arenaut)

# A wheel holds no links: one file, under the name that is loaded.
set_property(TARGET arenaut_shared PROPERTY VERSION)
set_property(TARGET arenaut_shared PROPERTY SOVERSION)
set_target_properties(arenaut_tool PROPERTIES INSTALL_RPATH "$ORIGIN/..")
# Windows looks for the command's library in the command's folder.
install(TARGETS arenaut_shared COMPONENT python
        LIBRARY DESTINATION ${package} RUNTIME DESTINATION ${package}/bin)
add_custom_target(arenaut_python DEPENDS arenaut_shared arenaut_tool)
install(TARGETS arenaut_tool COMPONENT python RUNTIME DESTINATION ${package}/bin)
if(TARGET arenaut_replay) # on Linux
  add_dependencies(arenaut_python arenaut_replay arenaut_gpu)
  install(TARGETS arenaut_replay arenaut_gpu COMPONENT python LIBRARY DESTINATION ${package})
endif()
install(DIRECTORY include/arenaut COMPONENT python DESTINATION ${package}/include)
