// The files of the panel, as panel/build.mjs made them: they are a part of the binary.
#pragma once

#include <span>
#include <string_view>

namespace pawl::admin {

struct PanelAsset {
  std::string_view name;  // index.html
  std::string_view type;
  std::string_view tag;  // of its content
  std::string_view plain;
  std::string_view gzip;
  std::string_view brotli;
};

std::span<const PanelAsset> panel_assets();

}  // namespace pawl::admin
