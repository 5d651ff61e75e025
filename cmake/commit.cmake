# Writes commit.h, with the commit that the sources are of: from git, with "-dirty" where a file has
# changed since; in a source archive from commit.txt, which `git archive` fills in; else unknown. Run at
# every build; the header stays as it is while it is right.
#   cmake -DSOURCE=… -DHEADER=… -P commit.cmake
cmake_minimum_required(VERSION 3.22)
set(commit "")
if(EXISTS "${SOURCE}/.git")
  execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
else()
  file(READ "${SOURCE}/cmake/commit.txt" archived)
  if(archived MATCHES "^[0-9a-f]+")
    string(SUBSTRING "${archived}" 0 12 commit)
  endif()
endif()
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define ARENAUT_COMMIT \"@commit@\"\n" @ONLY)
