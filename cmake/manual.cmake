# Man pages and completions of shells: the command prints them from its own tables once it is
# linked, so they always agree with --help.
set(QN_MANUAL ${CMAKE_BINARY_DIR}/manual)
add_custom_command(
  TARGET quern POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory ${QN_MANUAL}/completion
  COMMAND quern man --out ${QN_MANUAL}/man1
  COMMAND quern completion bash >${QN_MANUAL}/completion/quern
  COMMAND quern completion zsh >${QN_MANUAL}/completion/_quern
  COMMAND quern completion fish >${QN_MANUAL}/completion/quern.fish
  COMMENT "man pages, completions")
install(DIRECTORY ${QN_MANUAL}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${QN_MANUAL}/completion/quern
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${QN_MANUAL}/completion/_quern
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${QN_MANUAL}/completion/quern.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
