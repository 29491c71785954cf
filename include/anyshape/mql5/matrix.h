#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "anyshape/mql5/vector.h"

namespace anyshape::mql5 {

template <class T>
class Matrix : public Entries<Matrix<T>, T> {
  using Entries<Matrix<T>, T>::entries_;

 public:
  // One row of a matrix in its place.
  template <class M>
  class RowOf {
   public:
    RowOf(M& of, size_t row) : matrix_(of), row_(row) {}
    auto& operator[](Integer auto i) const {
      return matrix_.data()[row_ * matrix_.Cols() + checked_index(i, matrix_.Cols())];
    }
    const RowOf& operator=(const Vector<T>& from) const {
      matrix_.Row(from, row_);
      return *this;
    }
    operator Vector<T>() const { return matrix_.Row(row_); }  // NOLINT: a row is a vector

   private:
    M& matrix_;
    size_t row_;
  };

  Matrix() = default;
  Matrix(ulong rows, ulong cols) { Init(rows, cols); }
  Matrix(std::initializer_list<std::initializer_list<T>> rows) {
    for (const auto& row : rows) {
      if (rows_++ == 0) cols_ = row.size();
      must_be_equal(row.size(), cols_);
      entries_.insert(entries_.end(), row);
    }
  }

  static Matrix Zeros(ulong rows, ulong cols) { return Matrix(rows, cols); }
  static Matrix Ones(ulong rows, ulong cols) { return Full(rows, cols, T(1)); }
  static Matrix Full(ulong rows, ulong cols, T value) {
    Matrix out(rows, cols);
    out.Fill(value);
    return out;
  }
  static Matrix Eye(ulong rows, ulong cols, int diagonal = 0) {
    Matrix out(rows, cols);
    for (ulong i = 0; i < rows; ++i) {
      const long j = static_cast<long>(i) + diagonal;
      if (j >= 0 && static_cast<ulong>(j) < cols) out[i][j] = T(1);
    }
    return out;
  }

  ulong Rows() const { return rows_; }
  ulong Cols() const { return cols_; }
  void Identity() { *this = Eye(rows_, cols_); }
  void Init(ulong rows, ulong cols) {
    rows_ = rows;
    cols_ = cols;
    entries_.assign(rows * cols, T(0));
  }
  template <class F, class... Arguments>
  void Init(ulong rows, ulong cols, F init, Arguments... arguments) {
    Init(rows, cols);
    init(*this, arguments...);
  }
  // What lies in both sizes keeps its place.
  bool Resize(ulong rows, ulong cols, ulong /*reserve*/ = 0) {
    Matrix out(rows, cols);
    for (ulong i = 0; i < std::min(rows, rows_); ++i)
      for (ulong j = 0; j < std::min(cols, cols_); ++j) out[i][j] = (*this)[i][j];
    *this = std::move(out);
    return true;
  }
  // The entries in the same order; those beyond the old ones are zero.
  void Reshape(ulong rows, ulong cols) {
    rows_ = rows;
    cols_ = cols;
    entries_.resize(rows * cols);
  }

  RowOf<Matrix> operator[](Integer auto i) { return {*this, checked_index(i, rows_)}; }
  RowOf<const Matrix> operator[](Integer auto i) const { return {*this, checked_index(i, rows_)}; }
  T Flat(ulong i) const { return entries_[checked_index(i, entries_.size())]; }
  bool Flat(ulong i, T value) {
    entries_[checked_index(i, entries_.size())] = value;
    return true;
  }

  Vector<T> Row(ulong i) const {
    Vector<T> out(cols_);
    for (ulong j = 0; j < cols_; ++j) out[j] = (*this)[i][j];
    return out;
  }
  Vector<T> Col(ulong j) const {
    Vector<T> out(rows_);
    for (ulong i = 0; i < rows_; ++i) out[i] = (*this)[i][j];
    return out;
  }
  bool Row(const Vector<T>& from, ulong i) {
    if (from.Size() != cols_) return false;
    for (ulong j = 0; j < cols_; ++j) (*this)[i][j] = from[j];
    return true;
  }
  bool Col(const Vector<T>& from, ulong j) {
    if (from.Size() != rows_) return false;
    for (ulong i = 0; i < rows_; ++i) (*this)[i][j] = from[i];
    return true;
  }

  Matrix Transpose() const {
    Matrix out(cols_, rows_);
    for (ulong i = 0; i < rows_; ++i) out.Col(Row(i), i);
    return out;
  }
  Matrix MatMul(const Matrix& other) const {
    must_be_equal(other.rows_, cols_);
    Matrix out(rows_, other.cols_);
    for (ulong i = 0; i < rows_; ++i)
      for (ulong k = 0; k < cols_; ++k)
        for (ulong j = 0; j < other.cols_; ++j) out[i][j] += (*this)[i][k] * other[k][j];
    return out;
  }
  Vector<T> MatMul(const Vector<T>& other) const {
    Vector<T> out(rows_);
    for (ulong i = 0; i < rows_; ++i) out[i] = Row(i).Dot(other);
    return out;
  }

  template <class U>
  bool Assign(const Matrix<U>& other) {
    Init(other.Rows(), other.Cols());
    std::transform(other.flat_entries().begin(), other.flat_entries().end(), entries_.begin(),
                   [](const U& x) { return static_cast<T>(x); });
    return true;
  }
  // The last axis of an array gives the columns; one of one axis is one row.
  bool Assign(const AnyArray auto& array) {
    const auto from = flat(array);
    const auto rows = static_cast<ulong>(ArrayRange(array, 0));
    const bool one = rows == from.size();
    Init(one ? 1 : rows, one ? from.size() : from.size() / std::max<ulong>(rows, 1));
    std::transform(from.begin(), from.end(), entries_.begin(), [](const auto& x) { return static_cast<T>(x); });
    return true;
  }
  bool Copy(const Matrix& other) {
    *this = other;
    return true;
  }

  using Entries<Matrix<T>, T>::Sum;
  using Entries<Matrix<T>, T>::Mean;
  using Entries<Matrix<T>, T>::Min;
  using Entries<Matrix<T>, T>::Max;
  using Entries<Matrix<T>, T>::Std;
  // Along an axis: 0 gives one number for each column, 1 one for each row.
  Vector<T> Sum(int axis) const {
    return along(axis, [](const Vector<T>& v) { return v.Sum(); });
  }
  Vector<T> Mean(int axis) const {
    return along(axis, [](const Vector<T>& v) { return v.Mean(); });
  }
  Vector<T> Min(int axis) const {
    return along(axis, [](const Vector<T>& v) { return v.Min(); });
  }
  Vector<T> Max(int axis) const {
    return along(axis, [](const Vector<T>& v) { return v.Max(); });
  }
  Vector<T> Std(int axis) const {
    return along(axis, [](const Vector<T>& v) { return v.Std(); });
  }
  Vector<T> Std(int axis, int ddof) const {
    return along(axis, [ddof](const Vector<T>& v) { return v.Std(ddof); });
  }

  friend bool operator==(const Matrix& a, const Matrix& b) { return a.cols_ == b.cols_ && a.entries_ == b.entries_; }
  operator String() const {  // NOLINT: Print takes it
    std::string out = "[";
    for (ulong i = 0; i < rows_; ++i) out += (i ? "\n " : "") + joined(Row(i));
    return out + "]";
  }

 private:
  template <class F>
  Vector<T> along(int axis, F f) const {
    Vector<T> out(axis == 0 ? cols_ : rows_);
    for (ulong i = 0; i < out.Size(); ++i) out[i] = f(axis == 0 ? Col(i) : Row(i));
    return out;
  }

  size_t rows_ = 0, cols_ = 0;
};

}  // namespace anyshape::mql5

using matrix = anyshape::mql5::Matrix<double>;
using matrixf = anyshape::mql5::Matrix<float>;
using matrixc = anyshape::mql5::Matrix<complex>;
