# The libraries of docs/dependencies.md: the system's, or, where ANYSHAPE_BUNDLED names a folder that tools/bundled.sh
# has made, compiled into what links them, so that the result needs nothing but the C and C++ libraries.
set(ANYSHAPE_BUNDLED "" CACHE PATH "For wheels: the folder of tools/bundled.sh; empty: the system's libraries")

if(NOT ANYSHAPE_BUNDLED)
  foreach(library fmt tl-expected simdjson ZLIB hwy CLI11)
    find_package(${library} REQUIRED)
  endforeach()
  return()
endif()
if(NOT ANYSHAPE_PYTHON_WHEEL)
  message(FATAL_ERROR "ANYSHAPE_BUNDLED is for wheels: an installed libanyshape.a would miss what it names")
endif()
cmake_path(ABSOLUTE_PATH ANYSHAPE_BUNDLED BASE_DIRECTORY ${CMAKE_SOURCE_DIR} NORMALIZE)
if(NOT EXISTS ${ANYSHAPE_BUNDLED}/include/tl/expected.hpp)
  message(FATAL_ERROR "${ANYSHAPE_BUNDLED} does not hold the libraries: tools/bundled.sh puts them into build/bundled")
endif()

enable_language(C)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_VISIBILITY_PRESET hidden)

# anyshape_bundled(alias folder source...): a library of sources in this folder, which are given relative to it.
function(anyshape_bundled alias folder)
  string(MAKE_C_IDENTIFIER bundled_${alias} name)
  list(TRANSFORM ARGN PREPEND ${ANYSHAPE_BUNDLED}/${folder}/)
  add_library(${name} STATIC ${ARGN})
  add_library(${alias} ALIAS ${name})
  target_include_directories(${name} SYSTEM PUBLIC ${ANYSHAPE_BUNDLED}/${folder})
endfunction()

anyshape_bundled(simdjson::simdjson simdjson/singleheader simdjson.cpp)
anyshape_bundled(hwy::hwy highway hwy/aligned_allocator.cc hwy/per_target.cc hwy/print.cc hwy/targets.cc)
target_compile_definitions(bundled_hwy__hwy PUBLIC HWY_STATIC_DEFINE)
anyshape_bundled(fmt::fmt fmtlib src/format.cc)
target_include_directories(bundled_fmt__fmt SYSTEM PUBLIC ${ANYSHAPE_BUNDLED}/fmtlib/include)
anyshape_bundled(ZLIB::ZLIB zlib adler32.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c zutil.c)
set_target_properties(bundled_ZLIB__ZLIB PROPERTIES C_STANDARD 99 C_EXTENSIONS ON)

install(DIRECTORY ${ANYSHAPE_BUNDLED}/licenses DESTINATION anyshape COMPONENT python)

# Headers alone; protozero has no target, its headers are found where these are.
foreach(alias tl::expected CLI11::CLI11)
  string(MAKE_C_IDENTIFIER bundled_${alias} name)
  add_library(${name} INTERFACE)
  add_library(${alias} ALIAS ${name})
  target_include_directories(${name} SYSTEM INTERFACE ${ANYSHAPE_BUNDLED}/include)
endforeach()
