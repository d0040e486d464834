#include "gateway/plans_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/bounds.h"
#include "base/json.h"
#include "core/request/tenant.h"

namespace pawl::gateway {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::unexpected<Error> disk_failure(std::string_view doing, const std::string& path, int error) {
  return failure(Code::unavailable, "cannot " + std::string(doing) + " the plans of tenants '" +
                                        path + "': " + std::system_category().message(error));
}

std::unexpected<Error> damaged(const std::string& path, const std::string& why) {
  return failure(Code::invalid, "the plans of tenants '" + path + "' make no sense: " + why +
                                    "; put the file right, or move it away to begin without it");
}

Result<std::string> read_text(const std::string& path, std::FILE* file) {
  std::string text;
  char piece[4096];
  while (const std::size_t size = std::fread(piece, 1, sizeof(piece), file)) {
    text.append(piece, size);
    if (text.size() > bounds::json_bytes_max) return damaged(path, "it is too large");
  }
  if (std::ferror(file) != 0) return disk_failure("read", path, errno);
  return text;
}

Result<LivePlans> parse_plans(const std::string& path, std::string_view text) {
  const Result<json::Value> whole = json::parse(text);
  if (!whole) return damaged(path, whole.error().message);
  const json::Value* version = whole->find("version");
  if (version == nullptr || *version != json::Value(1)) {
    return damaged(path, "its version is not 1");
  }
  const json::Value* plans = whole->find("plans");
  if (plans == nullptr || plans->if_object() == nullptr) return damaged(path, "it has no plans");
  LivePlans found;
  for (const auto& [tenant, value] : *plans->if_object()) {
    const std::string* plan = value.if_string();
    if (!request::is_tenant_name(tenant) || plan == nullptr) {
      return damaged(path, "'" + tenant + "' is not the name of a tenant, or has no plan's name");
    }
    found.emplace(tenant, *plan);
  }
  if (found.size() > bounds::tenant_plans_max) return damaged(path, "it has too many tenants");
  return found;
}

Result<void> sync_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (synced) return {};
  // The new file is there already; whether it survives a power cut is not known.
  return std::unexpected(Error(Code::unavailable, Outcome::unknown,
                               disk_failure("sync the folder of", path, error).error().message));
}

Result<void> write_whole(const std::string& path, std::string_view text) {
  const File file(std::fopen(path.c_str(), "we"));
  if (!file) return disk_failure("write", path, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                       std::fflush(file.get()) == 0 && ::fsync(::fileno(file.get())) == 0;
  if (!written) return disk_failure("write", path, errno);
  return {};
}

}  // namespace

Result<LivePlans> read_plans(const std::string& path) {
  const File file(std::fopen(path.c_str(), "re"));
  if (!file && errno == ENOENT) return LivePlans();
  if (!file) return disk_failure("read", path, errno);
  const std::string text = PAWL_TRY(read_text(path, file.get()));
  return parse_plans(path, text);
}

Result<void> write_plans(const std::string& path, const LivePlans& plans) {
  json::Object listed;
  for (const auto& [tenant, plan] : plans) listed.emplace(tenant, plan);
  const std::string text = json::print(json::Object{{"plans", std::move(listed)}, {"version", 1}});
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return disk_failure("make the folder of", path, error.value());
  const std::string next = path + ".next";
  PAWL_TRY(write_whole(next, text + "\n"));
  if (std::rename(next.c_str(), path.c_str()) != 0) return disk_failure("replace", path, errno);
  return sync_folder(path);
}

}  // namespace pawl::gateway
