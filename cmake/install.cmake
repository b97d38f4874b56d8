# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: libraries, header, CMake package, pkg-config file, command, man page, completions.
# Both package files are relocatable: they find their prefix from where they lie.
include(CMakePackageConfigHelpers)

set(TENON_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tenon)
set(TENON_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS tenon_shared EXPORT tenonTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS tenon_image LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_SKIP)
install(TARGETS tenon_static EXPORT tenonTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(EXPORT tenonTargets NAMESPACE tenon:: DESTINATION ${TENON_CMAKE_DIR} COMPONENT dev)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tenonConfig.cmake.in ${PROJECT_BINARY_DIR}/tenonConfig.cmake
  INSTALL_DESTINATION ${TENON_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tenonConfig.cmake ${PROJECT_BINARY_DIR}/tenonConfigVersion.cmake
  DESTINATION ${TENON_CMAKE_DIR} COMPONENT dev)

# ${pcfiledir} is the folder of the .pc file: up from there to the prefix.
file(RELATIVE_PATH TENON_PC_TO_PREFIX /prefix/${TENON_PC_DIR} /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tenon.pc.in ${PROJECT_BINARY_DIR}/tenon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tenon.pc DESTINATION ${TENON_PC_DIR} COMPONENT dev)

if(TARGET tenon)
  install(TARGETS tenon RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/man/tenon.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/completions/tenon.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tenon COMPONENT tools)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/completions/_tenon
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tools)
endif()
