// A test authority and a server's certificate, made with the openssl command in a folder of their
// own that goes when the object does.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace pawl::net {

class Certificates {
 public:
  // `names` as OpenSSL's subjectAltName wants them: "DNS:redis.test,IP:127.0.0.1".
  explicit Certificates(const std::string& names) {
    std::string folder = ::testing::TempDir() + "pawl-certificates-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    folder_ = folder;
    make("-subj '/CN=test authority' -keyout " + file("ca.key") + " -out " + ca());
    make("-subj /CN=server -addext subjectAltName=" + names + " -CA " + ca() + " -CAkey " +
         file("ca.key") + " -addext basicConstraints=critical,CA:FALSE -keyout " + key() +
         " -out " + certificate());
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  std::string ca() const { return file("ca.pem"); }
  std::string certificate() const { return file("server.pem"); }
  std::string key() const { return file("server.key"); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void make(const std::string& arguments) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 " + arguments;
    const std::string quiet = command + " 2>" + file("openssl.log");
    if (std::system(quiet.c_str()) != 0) ADD_FAILURE() << "this did not work: " << command;
  }

  std::string folder_;
};

}  // namespace pawl::net
