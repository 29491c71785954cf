include_guard(GLOBAL)

# anyshape_add_mql5_test(name source.mq5 [DRIVER driver.cpp] [INCLUDE folder...] [SET INPUT=VALUE...] [DEPENDS file...])
#
# The test mql5.NAME: translates the program, compiles it, links anyshape_mql5 and runs it in the root of the sources.
# Without a driver its event functions are called as tests/mql5/terminal.h says; a driver is a program of its own that
# includes MQL5_PROGRAM. INCLUDE: where included files and resources are found beside the source. DEPENDS: files the
# build has to make first.
function(anyshape_add_mql5_test name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "DRIVER" "INCLUDE;SET;DEPENDS")
  set(tools ${PROJECT_SOURCE_DIR}/tests/mql5)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/mql5_${name}_program.cpp)
  cmake_path(ABSOLUTE_PATH source)
  list(TRANSFORM arg_INCLUDE PREPEND --include=)
  list(TRANSFORM arg_SET PREPEND --set=)
  set(main --main)
  if(arg_DRIVER)
    set(main)
  endif()
  add_custom_command(OUTPUT ${program}
    COMMAND ${ANYSHAPE_PYTHON} ${tools}/translate.py ${source} -o ${program} --depfile ${program}.d ${main}
            ${arg_INCLUDE} ${arg_SET}
    DEPENDS ${source} ${tools}/translate.py ${tools}/declarations.py ${tools}/tokens.py ${tools}/words.py ${arg_DEPENDS}
    DEPFILE ${program}.d
    VERBATIM)
  if(arg_DRIVER)
    add_executable(mql5_${name} ${arg_DRIVER})
    set_property(SOURCE ${arg_DRIVER} APPEND PROPERTY OBJECT_DEPENDS ${program})
    target_compile_definitions(mql5_${name} PRIVATE MQL5_PROGRAM="${program}")
  else()
    add_executable(mql5_${name} ${program})
  endif()
  target_include_directories(mql5_${name} PRIVATE ${tools})
  target_compile_definitions(mql5_${name} PRIVATE __MQL5__ __MQL5BUILD__=5572)
  # MQL5 converts numbers in braces without a word.
  target_compile_options(mql5_${name} PRIVATE -Wno-narrowing)
  target_link_libraries(mql5_${name} PRIVATE anyshape_mql5)
  add_test(NAME mql5.${name} COMMAND mql5_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
