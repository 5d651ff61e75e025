# The man page and the shells' completions, which the command prints from its own tables.
function(print_with_tool file destination)
  add_custom_command(OUTPUT ${file} COMMAND arenaut_tool ${ARGN} > ${file}
                     DEPENDS arenaut_tool VERBATIM)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file} DESTINATION ${destination})
endfunction()

print_with_tool(arenaut.1 ${CMAKE_INSTALL_MANDIR}/man1 manual)
print_with_tool(arenaut.bash ${CMAKE_INSTALL_DATADIR}/arenaut/completion completion bash)
print_with_tool(arenaut.zsh ${CMAKE_INSTALL_DATADIR}/arenaut/completion completion zsh)
print_with_tool(arenaut.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
add_custom_target(arenaut_manual ALL DEPENDS arenaut.1 arenaut.bash arenaut.zsh arenaut.fish)
