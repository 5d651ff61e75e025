# Writes page_text.h, the page that `view` puts out as C: explorer/dist/ holds it as `make page` left it,
# so that building needs no Node. Bytes as numbers, since these need no escapes and no long strings.
set(made ${CMAKE_CURRENT_SOURCE_DIR}/explorer/dist)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${made}/page.html ${made}/planner.txt)

file(READ ${made}/page.html page_template HEX)
file(STRINGS ${made}/planner.txt lines)
list(POP_FRONT lines) # names the compiler
list(JOIN lines "" planner)
string(HEX "${planner}" page_planner)

set(page_text "")
foreach(name page_template page_planner)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${${name}}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND page_text "static const char ${name}[] = {\n${bytes}0};\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/page_text.h CONTENT "${page_text}" @ONLY)
