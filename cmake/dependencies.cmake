# Everything Mercer builds with, from the system's packages, gathered in one interface target.
find_package(Eigen3 3.4 REQUIRED)
find_package(TBB REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(FastFloat REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)

# OpenBLAS itself, the pthread build, not whatever libblas.so.3 points at: Mercer sets its thread count.
find_library(OPENBLAS_LIBRARY NAMES openblas PATH_SUFFIXES openblas-pthread REQUIRED)
find_path(OPENBLAS_INCLUDE_DIR NAMES cblas.h PATH_SUFFIXES x86_64-linux-gnu/openblas-pthread aarch64-linux-gnu/openblas-pthread openblas REQUIRED)
find_path(RANDOM123_INCLUDE_DIR NAMES Random123/philox.h REQUIRED)

add_library(mercer_dependencies INTERFACE)
target_include_directories(mercer_dependencies SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR} ${RANDOM123_INCLUDE_DIR})
target_link_libraries(mercer_dependencies INTERFACE Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json FastFloat::fast_float Boost::headers
                      ZLIB::ZLIB LibLZMA::LibLZMA PkgConfig::HWY PkgConfig::NLOPT ${OPENBLAS_LIBRARY})
if(MERCER_STD_THREADS)
  find_package(Threads REQUIRED)
  target_compile_definitions(mercer_dependencies INTERFACE MERCER_STD_THREADS)
  target_link_libraries(mercer_dependencies INTERFACE Threads::Threads)
else()
  target_link_libraries(mercer_dependencies INTERFACE TBB::tbb)
endif()

add_library(mercer_warnings INTERFACE)
target_compile_options(mercer_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(mercer_warnings INTERFACE -Wno-restrict)  # GCC bug 105651: false alarms on std::string concatenation
endif()
if(MERCER_WERROR)
  target_compile_options(mercer_warnings INTERFACE -Werror)
endif()
