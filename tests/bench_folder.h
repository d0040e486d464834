// A folder of a benchmark's own, gone with the object. Tests have one that fails as tests do:
// temp_folder.h.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pawl {

class BenchFolder {
 public:
  BenchFolder() {
    path_ = (std::filesystem::temp_directory_path() / "pawl-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;
  ~BenchFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace pawl
