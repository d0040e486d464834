// The fields of one entry of retry.policies and of one row of retry.classify, what they must be
// together, and the policies and classification tables that come of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/field.h"
#include "core/retry/classify.h"
#include "core/retry/policy.h"
#include "pawl/result.h"

namespace pawl::config {

// The classification table that is always there.
inline constexpr std::string_view http_table_name = "http";

const Fields<RetryPolicy>& retry_policy_fields();
const Fields<RetryRow>& retry_row_fields();

// A row that retry::check() accepts.
Type<RetryRow> retry_row();

// Bounds that depend on more than one field, or on what the file leaves out.
void check_retry(const Retry& retry, Reader& reader);

// The policies in force. `retry` is one that check_retry() has found nothing wrong with.
retry::PolicyTable policy_table(const Retry& retry);

// The classification table of that name: its own rows, those that the file has for http, those that
// are built in. `retry` is one that was loaded. Code::not_found for a name that nobody defined.
Result<retry::ClassificationTable> table_of(const Retry& retry, std::string_view name);
// Where the file has a row of table_of(), as in retry.classify.http[0]; empty for a built-in one.
std::string path_of_row(const Retry& retry, std::string_view name, std::size_t index);

// A policy, and a row, as a file would say all of it.
RetryPolicy written_out(const retry::Policy& policy);
RetryRow written_out(const retry::Row& row);

}  // namespace pawl::config
