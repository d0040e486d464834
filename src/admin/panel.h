// GET /panel/: the panel's files. They hold no secret, so they need no token; what the panel shows,
// it asks of the API.
//
// Contract: compressed as the browser takes it. A browser keeps a file and asks whether it changed
//           (ETag). The page runs no script and no style but its own files, talks to nobody but
//           this listener, and stands in no frame (Content-Security-Policy).
#pragma once

#include <span>

#include "admin/panel_assets.h"
#include "admin/route.h"

namespace pawl::admin {

Routes panel_routes(std::span<const PanelAsset> assets);

}  // namespace pawl::admin
