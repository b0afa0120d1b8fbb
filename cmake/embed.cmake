# Text files become constants of the program.
#
# nvidb_embed(TARGET NAMESPACE NAME FILE): TARGET defines `const std::string_view NAMESPACE::NAME` with the bytes of
# FILE, which is UTF-8 text; whoever uses it declares the same with `extern`. Written again when FILE changes.

function(nvidb_embed target namespace name file)
  file(READ ${file} text)
  if(text MATCHES "\\)embedded\"")
    message(FATAL_ERROR "${file} holds the mark that ends an embedded text")
  endif()
  set(generated ${CMAKE_BINARY_DIR}/embedded/${name}.cc)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [=[
// Written by cmake/embed.cmake from @file@.
#include <string_view>

namespace @namespace@ {
extern const std::string_view @name@;
constexpr char kText[] = R"embedded(@text@)embedded";
const std::string_view @name@(kText, sizeof kText - 1);
}  // namespace @namespace@
]=])
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  target_sources(${target} PRIVATE ${generated})
endfunction()
