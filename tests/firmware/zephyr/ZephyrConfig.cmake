# A stand-in for Zephyr's package: as much of find_package(Zephyr) as modules and applications meet. Of each of
# EXTRA_ZEPHYR_MODULES it reads zephyr/module.yml, takes the options of its Kconfig with the application's prj.conf and
# those of BOARD_CONFIG, and runs its CMake before the application's own lines; `app` is linked into zephyr.elf.
# PYTHON reads Kconfig; STARTUP is a source that a board needs before main.
project(Zephyr-Kernel C)
add_library(app STATIC)
foreach(module IN LISTS EXTRA_ZEPHYR_MODULES)
  file(READ ${module}/zephyr/module.yml about)
  foreach(word name cmake kconfig)
    if(NOT about MATCHES "[ \n]${word}: ([^\n]+)")
      message(FATAL_ERROR "${module}/zephyr/module.yml has no ${word}")
    endif()
    set(${word} ${CMAKE_MATCH_1})
  endforeach()
  execute_process(COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/../kconfig.py ${module}/${kconfig}
                          ${CMAKE_CURRENT_SOURCE_DIR}/prj.conf ${BOARD_CONFIG}
                  OUTPUT_VARIABLE options COMMAND_ERROR_IS_FATAL ANY)
  cmake_language(EVAL CODE "${options}")
  add_subdirectory(${module}/${cmake} modules/${name})
endforeach()

file(WRITE ${CMAKE_BINARY_DIR}/empty.c "typedef int nothing;\n")
add_executable(zephyr.elf ${CMAKE_BINARY_DIR}/empty.c ${STARTUP})
set_target_properties(zephyr.elf PROPERTIES RUNTIME_OUTPUT_DIRECTORY zephyr)
target_link_libraries(zephyr.elf PRIVATE -Wl,--whole-archive app -Wl,--no-whole-archive)
