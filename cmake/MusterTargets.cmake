# One function per kind of target. Sources are listed, never globbed. Dependencies are declared
# per folder, so the linker sees the architecture: muster_core can only link muster_base.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths below the checkout count as relative: a second checkout finds what the first compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
                                  CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-fuse-ld=mold)
endif()

add_library(muster_options INTERFACE)
target_compile_options(muster_options INTERFACE -Wall -Wextra -Werror -Wshadow -Wconversion
                                                -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The algorithms of libstdc++ 12 use functions that it calls deprecated itself.
  target_compile_options(muster_options INTERFACE -Wthread-safety -Wno-deprecated-declarations)
else()
  # g++ 12 sees uninitialised members in every std::variant that it optimises (GCC bug 105562).
  target_compile_options(muster_options INTERFACE -Wno-maybe-uninitialized)
endif()
target_include_directories(muster_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
endif()

# Compiles the sources of a target eight at a time: most of the time of a build goes into templates
# of the same headers, again for every source. Tests are left alone, as their helpers share names.
function(muster_compile_together target)
  if(MUSTER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # A class may have members of types that only its source knows; g++ takes a source that another
    # one includes for a header, where that would be wrong.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# muster_library(NAME base SRCS a.cc b.cc DEPS muster::core fmt::fmt)
# Makes muster_base with the alias muster::base.
function(muster_library)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  add_library(muster_${ARG_NAME} STATIC ${ARG_SRCS})
  add_library(muster::${ARG_NAME} ALIAS muster_${ARG_NAME})
  target_link_libraries(muster_${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE muster_options)
  target_include_directories(muster_${ARG_NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  muster_compile_together(muster_${ARG_NAME})
endfunction()

# muster_proto(NAME wire PROTO ${path}/agent.proto [GRPC])
# Generates C++ into the build tree; include as "<name>.pb.h". Generated code is not held to our
# warnings.
function(muster_proto)
  cmake_parse_arguments(ARG "GRPC" "NAME;PROTO" "" ${ARGN})
  get_filename_component(stem ${ARG_PROTO} NAME_WE)
  get_filename_component(dir ${ARG_PROTO} DIRECTORY)
  set(out ${CMAKE_BINARY_DIR}/gen)
  file(MAKE_DIRECTORY ${out})
  set(generated ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
  set(grpc_flags)
  if(ARG_GRPC)
    find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
    list(APPEND generated ${out}/${stem}.grpc.pb.cc ${out}/${stem}.grpc.pb.h)
    set(grpc_flags --grpc_out=${out} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN})
  endif()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND protobuf::protoc --cpp_out=${out} ${grpc_flags} -I ${dir} ${ARG_PROTO}
    DEPENDS ${ARG_PROTO}
    VERBATIM)
  add_library(muster_${ARG_NAME} STATIC ${generated})
  add_library(muster::${ARG_NAME} ALIAS muster_${ARG_NAME})
  target_include_directories(muster_${ARG_NAME} SYSTEM PUBLIC ${out})
  target_link_libraries(muster_${ARG_NAME} PUBLIC protobuf::libprotobuf)
  if(ARG_GRPC)
    target_link_libraries(muster_${ARG_NAME} PUBLIC gRPC::grpc++)
  endif()
endfunction()

# Builds the tests with the label `threads`: those that ThreadSanitizer has something to say about.
add_custom_target(thread_tests)

# muster_test(NAME store_test SRCS store_test.cc DEPS muster::store [LABELS threads] [TIMEOUT 120]
#             [DATA])
# DATA: the test finds its folder testdata/ as MUSTER_TEST_DATA.
function(muster_test)
  cmake_parse_arguments(ARG "DATA" "NAME;TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT MUSTER_TESTS)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} muster_options GTest::gmock_main)
  if(ARG_DATA)
    target_compile_definitions(${ARG_NAME} PRIVATE
      MUSTER_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/testdata")
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME})
  set_tests_properties(${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}")
  if("threads" IN_LIST ARG_LABELS)
    add_dependencies(thread_tests ${ARG_NAME})
  endif()
endfunction()

# muster_fuzz(NAME record_fuzz SRCS record_fuzz.cc DEPS muster::store CORPUS dir)
# With MUSTER_FUZZ a libFuzzer binary, listed for scripts/fuzz; otherwise an ordinary test that runs
# the corpus once.
if(MUSTER_FUZZ)
  file(WRITE ${CMAKE_BINARY_DIR}/fuzz_targets "")
endif()
function(muster_fuzz)
  cmake_parse_arguments(ARG "" "NAME;CORPUS" "SRCS;DEPS" ${ARGN})
  if(MUSTER_FUZZ)
    add_executable(${ARG_NAME} ${ARG_SRCS})
    file(APPEND ${CMAKE_BINARY_DIR}/fuzz_targets "${ARG_NAME} ${ARG_CORPUS}\n")
    target_compile_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    target_link_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} muster_options)
  elseif(MUSTER_TESTS)
    add_executable(${ARG_NAME}_corpus ${ARG_SRCS} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus_main.cc)
    target_link_libraries(${ARG_NAME}_corpus PRIVATE ${ARG_DEPS} muster_options)
    add_test(NAME ${ARG_NAME}_corpus COMMAND ${ARG_NAME}_corpus ${ARG_CORPUS})
    set_tests_properties(${ARG_NAME}_corpus PROPERTIES TIMEOUT 120 LABELS "unit;fuzz")
  endif()
endfunction()
