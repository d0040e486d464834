// A folder of a test's own, gone with the object.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace pawl {

class TempFolder {
 public:
  explicit TempFolder(const std::filesystem::path& under = std::filesystem::temp_directory_path()) {
    std::string name = (under / "pawl-test-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
    EXPECT_FALSE(path_.empty()) << "cannot make a folder like " << name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace pawl
