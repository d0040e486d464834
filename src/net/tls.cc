// OpenSSL's one file.
#include "net/tls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <utility>

#include "base/address.h"
#include "base/assert.h"

namespace pawl::net {
namespace {

constexpr std::size_t record_bytes = 16 * 1024;   // the most that one TLS record carries
constexpr std::size_t write_bytes_max = 1 << 30;  // one SSL_write takes an int

// As ALPN has it: a name behind its length.
constexpr std::array<unsigned char, 9> http_protocol = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPtr = std::unique_ptr<SSL, Free>;

// What OpenSSL has to say of the last call; its queue is empty afterwards.
std::string last_words() {
  std::string words;
  while (const unsigned long code = ERR_get_error()) {
    const char* reason = ERR_SYSTEM_ERROR(code) ? std::strerror(ERR_GET_REASON(code))
                                                : ERR_reason_error_string(code);
    if (!words.empty()) words += "; ";
    words += reason != nullptr ? reason : "error " + std::to_string(code);
  }
  return words.empty() ? "no reason given" : words;
}

std::string why_refused(SSL* ssl) {
  std::string words = last_words();
  const long verified = SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) words += std::string(": ") + X509_verify_cert_error_string(verified);
  return words;
}

class TlsStream final : public Stream,
                        public StreamHandler,
                        public std::enable_shared_from_this<TlsStream> {
 public:
  TlsStream(Loop& loop, SslPtr ssl, StreamPtr plain, Tls::Done done)
      : loop_(loop), ssl_(std::move(ssl)), plain_(std::move(plain)), done_(std::move(done)) {
    incoming_ = BIO_new(BIO_s_mem());
    outgoing_ = BIO_new(BIO_s_mem());
    PAWL_ASSERT(incoming_ != nullptr && outgoing_ != nullptr);
    SSL_set_bio(ssl_.get(), incoming_, outgoing_);  // which owns them from now on
  }
  ~TlsStream() override { close(); }
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  void greet() {
    plain_->start(*this);
    ERR_clear_error();
    SSL_do_handshake(ssl_.get());
    send_encrypted();
  }

  void start(StreamHandler& handler) override {
    PAWL_ASSERT(!done_);
    handler_ = &handler;
    resume();
  }

  void send(std::string_view bytes) override {
    if (state_ != State::open) return;
    ERR_clear_error();
    while (!bytes.empty()) {
      const std::size_t size = std::min(bytes.size(), write_bytes_max);
      // Memory takes everything, and nobody renegotiates: what fails here is broken for good.
      const int written = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(size));
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    send_encrypted();
  }

  std::size_t queued_bytes() const override { return plain_->queued_bytes(); }

  void pause() override {
    paused_ = true;
    plain_->pause();
  }

  void resume() override {
    paused_ = false;
    if (state_ != State::open) return;
    plain_->resume();
    if (reading_ || (!cut_ && !holds_input())) return;
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->read();
    });
  }

  void close() override {
    if (state_ == State::closed) return;
    state_ = State::closed;
    handler_ = nullptr;
    done_ = nullptr;
    plain_->close();
  }

  void say_goodbye() override {
    if (state_ != State::open) return;
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    send_encrypted();
    if (plain_->queued_bytes() > 0) return close();  // a peer that takes nothing gets no farewell
    state_ = State::closed;
    handler_ = nullptr;
    plain_->say_goodbye();
  }

  bool is_quiet() const override {
    return state_ == State::open && !cut_ && !holds_input() && plain_->is_quiet();
  }
  bool has_input() const override {
    return state_ != State::open || cut_ || holds_input() || plain_->has_input();
  }
  bool takes_bytes() const override { return state_ == State::open && plain_->takes_bytes(); }

  IpAddress peer() const override { return plain_->peer(); }

  void on_data(std::string_view bytes) override {
    const auto self = shared_from_this();
    ERR_clear_error();
    BIO_write(incoming_, bytes.data(), static_cast<int>(bytes.size()));
    if (done_) return go_on_greeting();
    read();
  }

  void on_drained() override {
    if (handler_ != nullptr) handler_->on_drained();
  }

  void on_closed() override {
    const auto self = shared_from_this();
    if (done_) return greeted(refusal("the other side closed the connection during the greeting"));
    cut_ = true;
    read();  // what came before that is still good
  }

 private:
  enum class State : std::uint8_t { greeting, open, closed };

  static Result<void> refusal(const std::string& why) {
    return failure(Code::unavailable, "TLS: " + why);
  }

  // Something was read and not handed on yet.
  bool holds_input() const {
    return SSL_has_pending(ssl_.get()) != 0 || BIO_pending(incoming_) != 0;
  }

  void go_on_greeting() {
    const int result = SSL_do_handshake(ssl_.get());
    const int error = SSL_get_error(ssl_.get(), result);
    send_encrypted();  // an alert too: the other side should know why
    if (result == 1) {
      state_ = State::open;
      plain_->pause();  // until somebody is there to take what comes
      greeted({});
    } else if (error != SSL_ERROR_WANT_READ) {
      greeted(refusal(why_refused(ssl_.get())));
    }
  }

  void greeted(Result<void> how) {
    Tls::Done done = std::exchange(done_, nullptr);
    if (!how) close();
    done(std::move(how));
  }

  // Hands on what can be decrypted, as long as it is wanted.
  void read() {
    if (reading_ || handler_ == nullptr) return;
    const auto self = shared_from_this();
    reading_ = true;
    std::array<char, record_bytes> plain;
    while (state_ == State::open && !paused_) {
      ERR_clear_error();
      const int size = SSL_read(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
      if (size > 0) {
        handler_->on_data({plain.data(), static_cast<std::size_t>(size)});
        continue;
      }
      if (cut_ || SSL_get_error(ssl_.get(), size) != SSL_ERROR_WANT_READ) broken();
      break;
    }
    reading_ = false;
    if (state_ == State::open) send_encrypted();  // answers to key updates
  }

  void send_encrypted() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(outgoing_, &bytes);
    if (size <= 0) return;
    plain_->send({bytes, static_cast<std::size_t>(size)});
    (void)BIO_reset(outgoing_);
  }

  void broken() {
    if (state_ == State::closed) return;
    StreamHandler* handler = std::exchange(handler_, nullptr);
    send_encrypted();  // the alert that says what was wrong, if any
    close();
    if (handler != nullptr) handler->on_closed();
  }

  Loop& loop_;
  SslPtr ssl_;
  BIO* incoming_ = nullptr;
  BIO* outgoing_ = nullptr;
  StreamPtr plain_;
  Tls::Done done_;  // while greeting
  StreamHandler* handler_ = nullptr;
  State state_ = State::greeting;
  bool paused_ = false;
  bool reading_ = false;
  bool cut_ = false;  // nothing more will come
};

std::unexpected<Error> unusable(const std::string& what, const std::string& file) {
  return failure(Code::invalid, "TLS: cannot use " + what + " " + file + ": " + last_words() +
                                    "; it must be a readable PEM file");
}

// Otherwise OpenSSL would ask for one on the terminal, and wait.
int no_password(char*, int, int, void*) {
  return 0;
}

bool is_mismatch(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_X509 && ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH;
}

// Ours, or none.
int choose_http(SSL*, const unsigned char** chosen, unsigned char* size,
                const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  const int how = SSL_select_next_proto(&found, size, http_protocol.data(), http_protocol.size(),
                                        offered, offered_size);
  *chosen = found;
  return how == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// The certificate must be for this very host.
bool expect_host(SSL* ssl, const std::string& host) {
  if (parse_ip(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

}  // namespace

struct Tls::Context {
  std::unique_ptr<SSL_CTX, Free> ssl;

  static std::unique_ptr<Context> make(const SSL_METHOD* method) {
    ERR_clear_error();
    auto context = std::make_unique<Context>();
    context->ssl.reset(SSL_CTX_new(method));
    PAWL_ASSERT(context->ssl != nullptr);
    SSL_CTX_set_min_proto_version(context->ssl.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(context->ssl.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Connections that idle hold no buffers, and sessions are remembered by their clients alone.
    SSL_CTX_set_mode(context->ssl.get(), SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context->ssl.get(), SSL_SESS_CACHE_OFF);
    return context;
  }

  SslPtr connection() const {
    SslPtr made(SSL_new(ssl.get()));
    PAWL_ASSERT(made != nullptr);
    return made;
  }
};

Tls::Tls(std::unique_ptr<Context> context) : context_(std::move(context)) {}
Tls::~Tls() = default;

Result<std::shared_ptr<Tls>> Tls::client(const std::string& ca_file, Protocol protocol) {
  auto context = Context::make(TLS_client_method());
  SSL_CTX* ssl = context->ssl.get();
  SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  if (ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(ssl);
  } else if (SSL_CTX_load_verify_file(ssl, ca_file.c_str()) != 1) {
    return unusable("the certificates of the authorities in", ca_file);
  }
  if (protocol == Protocol::http) {
    PAWL_ASSERT(SSL_CTX_set_alpn_protos(ssl, http_protocol.data(), http_protocol.size()) == 0);
  }
  return std::shared_ptr<Tls>(new Tls(std::move(context)));
}

Result<std::shared_ptr<Tls>> Tls::server(const std::string& certificate_file,
                                         const std::string& key_file, Protocol protocol) {
  auto context = Context::make(TLS_server_method());
  SSL_CTX* ssl = context->ssl.get();
  SSL_CTX_set_default_passwd_cb(ssl, no_password);
  if (SSL_CTX_use_certificate_chain_file(ssl, certificate_file.c_str()) != 1) {
    return unusable("the certificate in", certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(ssl, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    if (is_mismatch(ERR_peek_last_error())) {
      ERR_clear_error();
      return failure(Code::invalid, "TLS: the key in " + key_file +
                                        " is not the one of the certificate in " +
                                        certificate_file);
    }
    return unusable("the key in", key_file);
  }
  if (protocol == Protocol::http) SSL_CTX_set_alpn_select_cb(ssl, choose_http, nullptr);
  return std::shared_ptr<Tls>(new Tls(std::move(context)));
}

Result<StreamPtr> Tls::connect(Loop& loop, StreamPtr plain, const std::string& host,
                               Done done) const {
  ERR_clear_error();
  SslPtr ssl = context_->connection();
  if (host.find('\0') != std::string::npos || !expect_host(ssl.get(), host)) {
    return failure(Code::invalid, "TLS: '" + host + "' is no host a certificate can be for");
  }
  SSL_set_connect_state(ssl.get());
  auto stream =
      std::make_shared<TlsStream>(loop, std::move(ssl), std::move(plain), std::move(done));
  stream->greet();
  return StreamPtr(stream);
}

Result<StreamPtr> Tls::accept(Loop& loop, StreamPtr plain, Done done) const {
  SslPtr ssl = context_->connection();
  SSL_set_accept_state(ssl.get());
  auto stream =
      std::make_shared<TlsStream>(loop, std::move(ssl), std::move(plain), std::move(done));
  stream->greet();
  return StreamPtr(stream);
}

}  // namespace pawl::net
