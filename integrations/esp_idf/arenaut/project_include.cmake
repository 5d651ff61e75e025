# The function of this checkout, or, where the component lies alone, the one that is installed beside the command.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../../../cmake/arenaut-model.cmake)
  include(${CMAKE_CURRENT_LIST_DIR}/../../../cmake/arenaut-model.cmake)
else()
  find_program(ARENAUT_COMMAND arenaut NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  get_filename_component(prefix ${ARENAUT_COMMAND}/../.. ABSOLUTE)
  include(${prefix}/lib/cmake/arenaut/arenaut-model.cmake)
endif()
