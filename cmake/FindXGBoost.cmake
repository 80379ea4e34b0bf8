# XGBoost's C API as target XGBoost::xgboost. Only xgboost/c_api.h is used, which needs no further library's headers.
find_path(XGBoost_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBoost_LIBRARY xgboost)
if(XGBoost_INCLUDE_DIR AND EXISTS ${XGBoost_INCLUDE_DIR}/xgboost/version_config.h)
  file(STRINGS ${XGBoost_INCLUDE_DIR}/xgboost/version_config.h _lines REGEX "#define XGBOOST_VER_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2.\\3" XGBoost_VERSION "${_lines}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XGBoost REQUIRED_VARS XGBoost_LIBRARY XGBoost_INCLUDE_DIR VERSION_VAR XGBoost_VERSION)
if(XGBoost_FOUND AND NOT TARGET XGBoost::xgboost)
  add_library(XGBoost::xgboost UNKNOWN IMPORTED)
  set_target_properties(XGBoost::xgboost PROPERTIES IMPORTED_LOCATION ${XGBoost_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${XGBoost_INCLUDE_DIR})
endif()
