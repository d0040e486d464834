// Book: what the jobs of one transaction read and write (writer.h). Each store has its own kind.
//
// Contract: steps are taken one after the other, all at the one moment the transaction has. When
//           the database fails, broken() has the error, no statement is run any more, and the
//           transaction must be given up.
// Threads:  one.
#pragma once

#include <initializer_list>
#include <optional>

#include "adapter/sqlite/database.h"

namespace pawl::sqlite {

class Book {
 public:
  explicit Book(Database& database) : database_(database) {}
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;
  virtual ~Book() = default;

  // Writes what the steps have left to be written.
  virtual Result<void> save() = 0;
  // Writes something that means nothing, to see whether that works.
  virtual void touch() = 0;

  const std::optional<Error>& broken() const { return broken_; }

 protected:
  // False: broken.
  bool run(Sql sql, std::initializer_list<Value> values, const Database::Each& each = {}) {
    if (broken_) return false;
    const Result<void> done = database_.run(sql, values, each);
    if (!done) broken_ = done.error();
    return done.has_value();
  }

 private:
  Database& database_;
  std::optional<Error> broken_;
};

}  // namespace pawl::sqlite
