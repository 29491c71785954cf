# The checks over the text of the tree, as tests of the label `lint`.
function(anyshape_lint_test name)
  add_test(NAME lint.${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(lint.${name} PROPERTIES LABELS lint)
endfunction()

anyshape_lint_test(layers ${ANYSHAPE_PYTHON} tools/check_layers.py)
anyshape_lint_test(sources ${ANYSHAPE_PYTHON} tools/check_sources.py)
anyshape_lint_test(format tools/check_format.sh)
anyshape_lint_test(scripts ${ANYSHAPE_PYTHON} tools/lint_test.py)
anyshape_lint_test(operators anyshape_op_table ${CMAKE_SOURCE_DIR}/docs/operators.md)
