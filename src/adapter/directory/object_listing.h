// The files below a folder as a page of objects.
//
// Contract: only folders that can hold such names are opened. The order is that of the bytes of
//           whole names, which is not the order of a walk by names: "a-b" comes before "a/b".
// Cost:     a folder is read as a whole for each page of it.
// Threads:  any; no state.
#pragma once

#include "port/object_store.h"

namespace pawl {

// `root`: the store's folder, open.
Result<Listing> list_objects(int root, const ListObjects& list);

}  // namespace pawl
