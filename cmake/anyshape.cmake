# The compile options every target of the project shares.
function(anyshape_target_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Werror)
  if(ANYSHAPE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${ANYSHAPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${ANYSHAPE_SANITIZE})
    if(ANYSHAPE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # With this instrumentation GCC 12 takes the value of an empty std::optional for one that is read.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
endfunction()

# anyshape_unit_test(name source...): one gtest binary over the core, each case registered with ctest.
function(anyshape_unit_test name)
  if(NOT ANYSHAPE_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE anyshape_core GTest::gtest_main)
  anyshape_target_options(${name})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()

# The interpreter of the tests that need Python: the private environment where tools/install_deps.sh made it.
set(ANYSHAPE_PYTHON "" CACHE FILEPATH "Python with the packages of tools/requirements/test.txt")
if(NOT ANYSHAPE_PYTHON AND EXISTS ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
  set(ANYSHAPE_PYTHON ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
elseif(NOT ANYSHAPE_PYTHON)
  find_program(ANYSHAPE_SYSTEM_PYTHON python3)
  set(ANYSHAPE_PYTHON ${ANYSHAPE_SYSTEM_PYTHON})
endif()
