// The fields of one item of limits.buckets, and what they must be together.
#pragma once

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

const Fields<Bucket>& bucket_fields();

// A bucket that has what its algorithm needs and nothing that belongs to another one.
Type<Bucket> bucket();

// Beyond this, bounds apply that depend on more than one field: told at the field to change.
void check_bucket(const Bucket& bucket, const std::string& path, Reader& reader);

}  // namespace pawl::config
