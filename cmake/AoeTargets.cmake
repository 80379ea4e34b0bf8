# aoe_library(NAME [HOT | COLD] SOURCES... HEADERS... PUBLIC... PRIVATE...): one folder, one library, alias aoe::NAME.
# aoe_program(NAME SOURCES... LIBS...): a program in build/<preset>/bin, COLD.
#   HOT: what it does while a model runs, or with every element of a tensor, is worth the compiler's last effort.
#   COLD: it reads files, waits for people, or works once for a model; -Os compiles it in two thirds to four fifths of the time.
#   Programs are, since what they do stands in libraries. Not what tunes between measurements.
# aoe_family(TARGET DIR REGISTRY_TYPE PREFIX): compiles every DIR/*.cpp into TARGET and writes all_<dir>.inc, which
#   calls register_<file stem>() of each file: adding a member of a family is adding a file.
set(AOE_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wno-missing-field-initializers  # designated initialisers leave the rest at its defaults
  -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow)  # g++ 12 sees ghosts in std::variant and std::string
option(AOE_WERROR "Treat warnings as errors" OFF)

# What most sources include of the standard library, parsed once for all (precompiled.h) and not again for each.
option(AOE_PRECOMPILE "Precompile the standard library's headers" OFF)

# The level of a Release build.
function(aoe_level result hot cold)
  set(level -O2)
  if(hot)
    set(level -O3)
  elseif(cold)
    set(level -Os)
  endif()
  set(${result} ${level} PARENT_SCOPE)
endfunction()

function(aoe_optimise target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()

# A precompiled header serves all targets of one set of macros: -Os has one of its own, OpenMP too. It takes 5 s and saves each unit
# 1.6: made when the first of them asks, and not for the two programs that have both.
function(aoe_use_precompiled target level)
  set(is_parallel OFF)
  if("OpenMP::OpenMP_CXX" IN_LIST ARGN)
    set(is_parallel ON)
  endif()
  set(provider aoe_precompiled)
  set(its_level -O2)
  if(level STREQUAL -Os)
    string(APPEND provider _cold)
    set(its_level -Os)
  elseif(is_parallel)
    string(APPEND provider _openmp)
  endif()
  if(NOT AOE_PRECOMPILE OR (is_parallel AND level STREQUAL -Os))
    return()
  endif()
  if(NOT TARGET ${provider})
    add_library(${provider} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    aoe_target_defaults(${provider})
    aoe_optimise(${provider} ${its_level})
    target_precompile_headers(${provider} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
    if(is_parallel)
      target_link_libraries(${provider} PRIVATE OpenMP::OpenMP_CXX)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${provider})
endfunction()

# Programs are compiled as libraries are, -fPIC and not -fPIE: precompiled headers serve both.
function(aoe_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC ${AOE_WARNINGS} -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= $<$<BOOL:${AOE_WERROR}>:-Werror>)
endfunction()

function(aoe_library name)
  cmake_parse_arguments(ARG "HOT;COLD" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  add_library(aoe_${name} STATIC ${ARG_SOURCES})
  add_library(aoe::${name} ALIAS aoe_${name})
  aoe_target_defaults(aoe_${name})
  aoe_level(level "${ARG_HOT}" "${ARG_COLD}")
  aoe_optimise(aoe_${name} ${level})
  aoe_use_precompiled(aoe_${name} ${level} ${ARG_PUBLIC} ${ARG_PRIVATE})
  target_sources(aoe_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  target_include_directories(aoe_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(aoe_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

function(aoe_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  aoe_target_defaults(${name})
  aoe_optimise(${name} -Os)
  aoe_use_precompiled(${name} -Os ${ARG_LIBS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
endfunction()

# aoe_pkg_config(NAME): installs NAME.pc of cmake/NAME.pc.in, which finds the prefix from its own place.
function(aoe_pkg_config name)
  set(directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${directory} OUTPUT_VARIABLE AOE_PREFIX_FROM_PC)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${directory})
endfunction()

# aoe_compile_alone(FILES...): the presets for users compile many files of a target as one; not these, whose local names are
# a neighbour's as well, or whose classes have members of types that are local to the file.
function(aoe_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# aoe_family(TARGET aoe_x FOLDER sub REGISTRY aoe::x::Registry NAMESPACE aoe::x [ALONE])
# ALONE: its members call their parts by the same names (run, find, apply), so each is compiled by itself.
function(aoe_family)
  cmake_parse_arguments(ARG "ALONE" "TARGET;FOLDER;REGISTRY;NAMESPACE" "" ${ARGN})
  file(GLOB_RECURSE members CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER}/*.cpp)
  list(SORT members COMPARE FILE_BASENAME)  # the order of members says nothing of their rooms
  set(declarations "")
  set(calls "")
  foreach(member IN LISTS members)
    get_filename_component(stem ${member} NAME_WE)
    string(APPEND declarations "void register_${stem}(${ARG_REGISTRY}& registry);\n")
    string(APPEND calls "  register_${stem}(registry);\n")
  endforeach()
  set(include_dir ${CMAKE_CURRENT_BINARY_DIR}/family)
  file(CONFIGURE OUTPUT ${include_dir}/all_${ARG_FOLDER}.inc CONTENT
"// Generated from the files of ${ARG_FOLDER}/: one register_<stem>() each.
namespace ${ARG_NAMESPACE} {
${declarations}
inline void register_all_${ARG_FOLDER}(${ARG_REGISTRY}& registry) {
  (void)registry;
${calls}}
}
")
  target_sources(${ARG_TARGET} PRIVATE ${members})
  if(ARG_ALONE)
    aoe_compile_alone(${members})
  endif()
  target_include_directories(${ARG_TARGET} PRIVATE ${include_dir})
endfunction()
