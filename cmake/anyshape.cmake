# The compile options every target of the project shares.
function(anyshape_target_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
    $<$<BOOL:${ANYSHAPE_WERROR}>:-Werror>)
  if(ANYSHAPE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${ANYSHAPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${ANYSHAPE_SANITIZE})
    if(ANYSHAPE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # With this instrumentation GCC 12 takes the value of an empty std::optional for one that is read.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
endfunction()

# Compiled once instead of in every file; the core adds the header that most of its files include. Every file still
# includes what it uses, which the preset fuzz, without ANYSHAPE_SHARED_COMPILING, proves.
set(ANYSHAPE_PRECOMPILED
  <algorithm> <array> <bit> <charconv> <cmath> <complex> <cstdint> <cstring> <functional> <limits> <map> <memory>
  <numeric> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <tl/expected.hpp>
)

# anyshape_together(target source...): sources of the target that are compiled as one, so that what they share is parsed
# and instantiated once. Their names must not clash, those of unnamed namespaces neither. As many as compile in ten
# seconds: a change of one compiles them all.
function(anyshape_together target)
  target_sources(${target} PRIVATE ${ARGN})
  if(ANYSHAPE_SHARED_COMPILING)
    list(GET ARGN 0 first)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder}_${first} group)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endif()
endfunction()

# anyshape_level(target [level]): its optimisation level in a release; that of the project where none is given.
function(anyshape_level target)
  if(ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${ARGV1}>)
  endif()
endfunction()

# anyshape_headers(name level header...): a target that has them precompiled, for targets of this level ("" is that of the
# project): a compiler may refuse those of another one. CMake wants a source of it, if an empty one.
function(anyshape_headers name level)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE anyshape_needs)
  anyshape_target_options(${name})
  anyshape_level(${name} ${level})
  target_precompile_headers(${name} PRIVATE ${ANYSHAPE_PRECOMPILED} ${ARGN})
endfunction()

# anyshape_precompile(target [level]): the precompiled headers of the core, for a target that links anyshape_needs. One
# compilation serves all levels that come to the same.
function(anyshape_precompile target)
  if(ANYSHAPE_SHARED_COMPILING)
    set(level "${ARGV1}")
    if(level STREQUAL ANYSHAPE_LEVEL OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
      set(level "")
    endif()
    set(headers anyshape_core_headers${level})
    # What is worth -O3 knows no graphs.
    set(most_included src/ir/builder.h)
    if(level STREQUAL "-O3")
      set(most_included src/tensor/tensor.h)
    endif()
    if(NOT TARGET ${headers})
      anyshape_headers(${headers} "${level}" ${CMAKE_SOURCE_DIR}/${most_included})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# anyshape_core_part(name level): a part of the core with an optimisation level of its own, e.g. -O3.
function(anyshape_core_part name level)
  add_library(${name} OBJECT)
  target_link_libraries(${name} PRIVATE anyshape_needs)
  anyshape_target_options(${name})
  anyshape_precompile(${name} ${level})
  anyshape_level(${name} ${level})
  target_sources(anyshape_core PRIVATE $<TARGET_OBJECTS:${name}>)
  set_property(GLOBAL APPEND PROPERTY ANYSHAPE_CORE_PARTS ${name})
endfunction()

# What is tested has its own level. Unit tests around it take longer to compile than to run; tools that run thousands of
# cases, and what is linked to them, do not.
set(ANYSHAPE_TEST_LEVEL -O0)
set(ANYSHAPE_TEST_TOOL_LEVEL -O1)

# The headers of gtest, too, compiled once for all unit tests.
function(anyshape_precompile_test target)
  if(NOT TARGET anyshape_test_headers)
    anyshape_headers(anyshape_test_headers ${ANYSHAPE_TEST_LEVEL} <gtest/gtest.h>)
    target_link_libraries(anyshape_test_headers PRIVATE GTest::gtest)
    # As CMake compiles programs; the two must agree.
    set_target_properties(anyshape_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(anyshape_test_headers PRIVATE -fPIE)
  endif()
  target_precompile_headers(${target} REUSE_FROM anyshape_test_headers)
endfunction()

# anyshape_embed(target name file...): the texts of files as constants of a source of the target, which is called by name:
# `page/base.js` is anyshape::embedded::base_js.
function(anyshape_embed target name)
  set(constants "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(constant ${file} NAME)
    string(MAKE_C_IDENTIFIER ${constant} constant)
    string(APPEND constants "extern const char ${constant}[];\nconst char ${constant}[] = R\"embedded(${text})embedded\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${name}.cpp CONTENT "namespace anyshape::embedded {\n@constants@}\n" @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
endfunction()

# anyshape_test_options(target [level]): how code around what is tested is compiled: its files in groups, as by
# anyshape_together.
function(anyshape_test_options target)
  anyshape_target_options(${target})
  anyshape_level(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ANYSHAPE_SHARED_COMPILING} UNITY_BUILD_BATCH_SIZE 14)
endfunction()

# anyshape_core_tool(name source...): a program of the tests over the core.
function(anyshape_core_tool name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE anyshape_core anyshape_needs)
  anyshape_test_options(${name} ${ANYSHAPE_TEST_TOOL_LEVEL})
  # As the core is compiled, whose headers it shares.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  anyshape_precompile(${name} ${ANYSHAPE_TEST_TOOL_LEVEL})
endfunction()

# anyshape_test_library(name source...): what several of them share.
function(anyshape_test_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC anyshape_core GTest::gtest PRIVATE anyshape_needs)
  anyshape_test_options(${name} ${ANYSHAPE_TEST_TOOL_LEVEL})
endfunction()

# anyshape_unit_test(name source...): one gtest binary over the core, registered with ctest.
function(anyshape_unit_test name)
  if(NOT ANYSHAPE_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE anyshape_core anyshape_needs GTest::gtest GTest::gtest_main)
  anyshape_test_options(${name} ${ANYSHAPE_TEST_LEVEL})
  if(ANYSHAPE_SHARED_COMPILING)
    anyshape_precompile_test(${name})
  endif()
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
