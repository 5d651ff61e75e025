# The port of vcpkg. `make recipes` fills in the checksum of the archive.
vcpkg_download_distfile(archive
  URLS https://github.com/arenaut/arenaut/releases/download/v${VERSION}/arenaut-${VERSION}.tar.gz
  FILENAME arenaut-${VERSION}.tar.gz
  SHA512 @SHA512@)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE ${archive})
vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES tools ARENAUT_TOOL)
vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH} OPTIONS ${options} -DARENAUT_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/arenaut)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES arenaut AUTO_CLEAN)
endif()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE ${SOURCE_PATH}/explorer/dist/planner.licenses.txt)
