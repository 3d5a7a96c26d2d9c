// A growable array of plain values that grows in place where the allocator can (realloc), so
// loading n values never holds two copies and never touches memory beyond what is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace xlog {

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  Column(Column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() { std::free(data_); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  size_t bytes() const { return capacity_ * sizeof(T); }

  void push_back(T value) {
    if (size_ == capacity_) resize_storage(capacity_ + capacity_ / 2 + 4);
    data_[size_++] = value;
  }
  // Makes room for n values behind the last one, which the caller writes.
  T* extend(size_t n) {
    if (size_ + n > capacity_) resize_storage(std::max(size_ + n, capacity_ + capacity_ / 2 + 4));
    T* first = data_ + size_;
    size_ += n;
    return first;
  }
  void pop_back() { --size_; }
  void reserve(size_t n) {
    if (n > capacity_) resize_storage(n);
  }
  void shrink_to_fit() {
    if (size_ < capacity_ && size_ > 0) resize_storage(size_);
  }
  void clear() { size_ = 0; }
  void truncate(size_t n) { size_ = std::min(size_, n); }

 private:
  void resize_storage(size_t n) {
    void* grown = std::realloc(static_cast<void*>(data_), n * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = n;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace xlog
