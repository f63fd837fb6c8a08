# How the binary that ships is linked, when MUSTER_SHIPPED_LINKING is on. It must follow the
# dependencies' find_package().
#
# gRPC, Abseil and Protobuf as shared libraries are 60 files with five mappings each, which every
# start of a process loads and every fork copies; their archives stand in the same packages. What
# another library of Debian links too (OpenSSL and zlib, by libcurl) stays shared: a process must
# not have two of it, and it gets its security updates without a build.

# The archive of the same name in place of each shared library that a target stands for.
function(muster_use_archives)
  foreach(target IN LISTS ARGN)
    foreach(property IN ITEMS IMPORTED_LOCATION IMPORTED_LOCATION_NONE IMPORTED_LOCATION_RELEASE)
      get_target_property(shared ${target} ${property})
      if(NOT shared)
        continue()
      endif()
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive ${shared})
      if(NOT EXISTS ${archive})
        message(FATAL_ERROR "${target}: there is no ${archive} beside ${shared}; "
                            "configure with -DMUSTER_SHIPPED_LINKING=OFF to do without")
      endif()
      set_target_properties(${target} PROPERTIES ${property} ${archive})
    endforeach()
  endforeach()
endfunction()

# The targets of a package and, through them, everything of gRPC and Abseil that they link.
function(muster_linked_targets out)
  set(seen)
  set(waiting ${ARGN})
  while(waiting)
    list(POP_FRONT waiting target)
    if(target IN_LIST seen OR NOT TARGET ${target} OR NOT target MATCHES "^(gRPC|absl)::")
      continue()
    endif()
    list(APPEND seen ${target})
    get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
    if(linked)
      # \$<LINK_ONLY:absl::strings> and the like.
      string(REGEX MATCHALL "(gRPC|absl)::[A-Za-z0-9_+]+" linked "${linked}")
      list(APPEND waiting ${linked})
    endif()
  endwhile()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()

muster_linked_targets(archived gRPC::grpc++)
muster_use_archives(${archived} protobuf::libprotobuf SQLite::SQLite3)

# Every allocation and release of the C library takes part in keeping its heap in one piece. With
# many small records that live for milliseconds and are freed by another thread than made them, that
# was a quarter of the controller's time.
find_library(JEMALLOC_ARCHIVE libjemalloc.a REQUIRED)
set(MUSTER_ALLOCATOR ${JEMALLOC_ARCHIVE})
