# libagsup for programs in C: a shared and a static library of the room ag_agsup and of what it needs of common/, and
# nothing to be seen from outside but agsup_*. Included by the CMakeLists.txt of the tree.
set (AGSUP_ABI 0) # of the shared library: raised when a program that is linked with the one before would not run

add_library (libagsup SHARED $<TARGET_OBJECTS:ag_agsup>)
target_link_libraries (libagsup PRIVATE ag_common PkgConfig::ZMQ)
target_link_options (libagsup PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports)
set_target_properties (libagsup PROPERTIES OUTPUT_NAME agsup VERSION ${AGSUP_ABI}.${PROJECT_VERSION}
    SOVERSION ${AGSUP_ABI} LINKER_LANGUAGE C LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if (NOT CMAKE_BUILD_TYPE STREQUAL "Debug") # a sanitizer's symbols come with the program
    target_link_options (libagsup PRIVATE -Wl,-z,defs)
endif ()

# One object, so that its own names can be hidden.
set (ARCHIVE ${CMAKE_BINARY_DIR}/lib/libagsup.a)
set (OBJECT ${CMAKE_BINARY_DIR}/lib/agsup.o)
add_custom_command (OUTPUT ${ARCHIVE}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
    COMMAND ${CMAKE_LINKER} -r -o ${OBJECT} $<TARGET_OBJECTS:ag_agsup> $<TARGET_FILE:ag_common>
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=agsup_* ${OBJECT}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${ARCHIVE}
    COMMAND ${CMAKE_AR} rcs ${ARCHIVE} ${OBJECT}
    DEPENDS ag_agsup ag_common $<TARGET_OBJECTS:ag_agsup> COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target (libagsup-static ALL DEPENDS ${ARCHIVE})

file (RELATIVE_PATH AGSUP_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file (${CMAKE_CURRENT_LIST_DIR}/libagsup.pc.in ${CMAKE_BINARY_DIR}/lib/libagsup.pc @ONLY)
install (TARGETS libagsup LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install (FILES ${ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install (FILES ${CMAKE_CURRENT_LIST_DIR}/agsup.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install (FILES ${CMAKE_BINARY_DIR}/lib/libagsup.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if (BUILD_TESTING) # for the analysers; tests/house/programs_test.py builds it as an author does
    add_executable (reviewer docs/examples/reviewer.c)
    set_target_properties (reviewer PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
    target_include_directories (reviewer PRIVATE ${CMAKE_CURRENT_LIST_DIR})
    target_link_libraries (reviewer PRIVATE libagsup)
endif ()
