# Plays as much of vcpkg as the port calls: cmake -DPORT=… -DARCHIVE=… -DWORK=… -DVERSION=… -DFEATURES=… -P port.cmake
cmake_policy(SET CMP0057 NEW) # IN_LIST
set(CURRENT_PACKAGES_DIR ${WORK}/package)
set(CURRENT_BUILDTREES_DIR ${WORK}/build)

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_download_distfile to)
  cmake_parse_arguments(PARSE_ARGV 1 asked "" "FILENAME;SHA512" "URLS")
  file(SHA512 ${ARCHIVE} found)
  get_filename_component(name ${ARCHIVE} NAME)
  if(NOT found STREQUAL asked_SHA512 OR NOT name STREQUAL asked_FILENAME OR NOT asked_URLS MATCHES "/${name}$")
    message(FATAL_ERROR "the port asks for ${asked_FILENAME} (${asked_SHA512}), and this is ${name} (${found})")
  endif()
  set(${to} ${ARCHIVE} PARENT_SCOPE)
endfunction()

function(vcpkg_extract_source_archive to)
  cmake_parse_arguments(PARSE_ARGV 1 asked "" "ARCHIVE" "")
  file(MAKE_DIRECTORY ${WORK}/source)
  run(tar --strip-components=1 -xzf ${asked_ARCHIVE} -C ${WORK}/source)
  set(${to} ${WORK}/source PARENT_SCOPE)
endfunction()

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 asked "" "OUT_FEATURE_OPTIONS" "FEATURES")
  list(GET asked_FEATURES 0 feature)
  list(GET asked_FEATURES 1 option)
  set(on OFF)
  if(feature IN_LIST FEATURES)
    set(on ON)
  endif()
  set(${asked_OUT_FEATURE_OPTIONS} -D${option}=${on} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 asked "" "SOURCE_PATH" "OPTIONS")
  run(${CMAKE_COMMAND} -S ${asked_SOURCE_PATH} -B ${CURRENT_BUILDTREES_DIR} -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib ${asked_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${CURRENT_BUILDTREES_DIR})
  run(${CMAKE_COMMAND} --install ${CURRENT_BUILDTREES_DIR})
endfunction()

function(must_exist)
  foreach(path ${ARGN})
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "the port installs no ${path}")
    endif()
  endforeach()
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 asked "" "CONFIG_PATH" "")
  must_exist(${CURRENT_PACKAGES_DIR}/${asked_CONFIG_PATH}/arenaut-config.cmake)
endfunction()

function(vcpkg_fixup_pkgconfig)
  must_exist(${CURRENT_PACKAGES_DIR}/lib/pkgconfig/arenaut.pc)
endfunction()

function(vcpkg_copy_tools)
  cmake_parse_arguments(PARSE_ARGV 0 asked "AUTO_CLEAN" "" "TOOL_NAMES")
  must_exist(${CURRENT_PACKAGES_DIR}/bin/${asked_TOOL_NAMES})
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 asked "" "" "FILE_LIST")
  must_exist(${asked_FILE_LIST})
endfunction()

include(${PORT}/portfile.cmake)
