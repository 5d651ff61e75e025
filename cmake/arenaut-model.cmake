# A planned model as a source of a target, made anew whenever the model changes:
#
#     arenaut_plan_model(TARGET MODEL [FIT SIZE] [KERNELS NAME] [FLAGS FLAG...])
#
# adds <model>.c, the file with its plan as an array, and planned/<model>.h, the bytes to reserve and the ops to
# add to a resolver. With FIT the build fails where nothing is known to fit, and says how much would do;
# FLAGS go to `arenaut plan`. ARENAUT_COMMAND names the command, which runs on the machine that builds.
# Without KERNELS they are those of CONFIG_ARENAUT_KERNELS, if Zephyr or ESP-IDF has configured any.
# The file needs nothing else of Arenaut: include(…/arenaut-model.cmake) works where a target is another machine.
function(arenaut_plan_model target model)
  cmake_parse_arguments(PARSE_ARGV 2 given "" "FIT;KERNELS" "FLAGS")
  if(given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "arenaut_plan_model: ${given_UNPARSED_ARGUMENTS}: FIT, KERNELS or FLAGS")
  endif()
  foreach(word FIT KERNELS)
    if(word IN_LIST ARGN AND "${given_${word}}" STREQUAL "")
      message(FATAL_ERROR "arenaut_plan_model: ${word} has no value")
    endif()
  endforeach()
  if(NOT given_KERNELS AND DEFINED CONFIG_ARENAUT_KERNELS)
    set(given_KERNELS ${CONFIG_ARENAUT_KERNELS})
    if(NOT given_KERNELS)
      message(FATAL_ERROR "arenaut_plan_model: neither KERNELS nor CONFIG_ARENAUT_KERNELS says which kernels run")
    endif()
  endif()
  # The header depends on them, too.
  set(runtime ${given_FLAGS})
  list(FILTER runtime INCLUDE REGEX "^--(kernels|target|scratch)")
  if(runtime MATCHES "--kernels|--(target|scratch)(;|$)")
    message(FATAL_ERROR "arenaut_plan_model: ${runtime}: in FLAGS it is --target=NAME and --scratch=FILE; kernels are KERNELS NAME")
  endif()
  if(TARGET arenaut_tool AND NOT CMAKE_CROSSCOMPILING)
    set(command arenaut_tool)
  else()
    # Installed, this file lies in PREFIX/lib/cmake/arenaut.
    find_program(ARENAUT_COMMAND arenaut HINTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin
                 NO_CMAKE_FIND_ROOT_PATH)
    if(NOT ARENAUT_COMMAND)
      message(FATAL_ERROR "arenaut_plan_model: no command arenaut: name it in ARENAUT_COMMAND")
    endif()
    set(command ${ARENAUT_COMMAND})
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  get_filename_component(name ${model} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.planned)
  get_target_property(sources ${target} SOURCES)
  if(${folder}/${name}.c IN_LIST sources)
    message(FATAL_ERROR "arenaut_plan_model: ${target} has a model ${name} already: ${model} needs another name")
  endif()
  # A header in a folder of its own hides none of the system's (string.h).
  set(header ${folder}/planned/${name}.h)
  set(planned ${folder}/${name}.tflite)
  file(MAKE_DIRECTORY ${folder}/planned)
  set(kernels ${given_KERNELS})
  list(TRANSFORM kernels PREPEND "--kernels=")
  # A kernel set or a table of scratch that is a file has the model planned anew when it changes.
  set(read ${given_KERNELS} ${given_FLAGS})
  list(TRANSFORM read REPLACE "^--[a-z]+=" "")
  set(files)
  foreach(path IN LISTS read)
    if(IS_ABSOLUTE "${path}" AND EXISTS "${path}" AND NOT IS_DIRECTORY "${path}")
      list(APPEND files ${path})
    endif()
  endforeach()
  set(fit ${given_FIT})
  list(TRANSFORM fit PREPEND "--fit=")
  add_custom_command(OUTPUT ${folder}/${name}.c ${header} BYPRODUCTS ${planned}
    COMMAND ${command} plan ${model} -q -f ${kernels} ${fit} ${given_FLAGS} -o ${planned}
    COMMAND ${command} export ${planned} -f ${kernels} ${runtime} --as header -o ${header}
    COMMAND ${command} export ${planned} -f --as c-array -o ${folder}/${name}.c
    DEPENDS ${model} ${files} ${command} COMMENT "planning the memory of ${name}" VERBATIM)
  target_sources(${target} PRIVATE ${folder}/${name}.c)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
