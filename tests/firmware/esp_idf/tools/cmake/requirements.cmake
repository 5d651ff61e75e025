# A component's CMakeLists.txt as a script, for its requirements alone: nothing behind idf_component_register runs.
macro(idf_component_register)
  set(registered TRUE)
  return()
endmacro()
include(${CMAKE_ARGV3}/CMakeLists.txt)
if(NOT registered)
  message(FATAL_ERROR "${CMAKE_ARGV3} registers no component")
endif()
