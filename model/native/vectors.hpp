// A register's worth of numbers, in the vector types of GCC and Clang: one source for every processor.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif

using Floats = float __attribute__((vector_size(LANES * 4)));
using Ints = int32_t __attribute__((vector_size(LANES * 4)));

inline Floats load(const float* from) {
    Floats values;
    std::memcpy(&values, from, sizeof values);
    return values;
}

inline void store(float* to, Floats values) { std::memcpy(to, &values, sizeof values); }

inline Floats splat(float value) { return Floats{} + value; }

inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }

inline float total(Floats values) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)values);
#else
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += values[lane];
    return sum;
#endif
}

inline float largest(Floats values) {
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps((__m512)values);
#else
    float best = values[0];
    for (int lane = 1; lane < LANES; lane++) best = values[lane] > best ? values[lane] : best;
    return best;
#endif
}

inline Floats magnitude(Floats values) { return values < 0 ? -values : values; }

// To the nearest whole number.
inline Ints rounded(Floats values) {
#if defined(__AVX512F__)
    return (Ints)_mm512_cvtps_epi32((__m512)values);
#else
    return __builtin_convertvector(values + (values < 0 ? splat(-0.5f) : splat(0.5f)), Ints);
#endif
}

// e^x to about 1e-7 of its value: 2^n · e^r with |r| ≤ ln 2 / 2 and a polynomial for e^r.
inline Floats exponential(Floats x) {
#if defined(__AVX512F__)
    const Floats n = (Floats)_mm512_roundscale_ps((__m512)(x * 1.44269504f), _MM_FROUND_TO_NEAREST_INT);
#else
    x = x < -87.0f ? splat(-87.0f) : x;
    x = x > 88.0f ? splat(88.0f) : x;
    const Ints whole = rounded(x * 1.44269504f);
    const Floats n = __builtin_convertvector(whole, Floats);
#endif
    const Floats r = x - n * 0.693359375f + n * 2.12194440e-4f;
    Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
#if defined(__AVX512F__)
    return (Floats)_mm512_scalef_ps((__m512)p, (__m512)n);  // 0 and infinity where they belong
#else
    const Ints power = (whole + 127) << 23;
    Floats scale;
    std::memcpy(&scale, &power, sizeof scale);
    return p * scale;
#endif
}

// Memory that begins at a cache line and ends with one register's worth to spare.
template <typename Value>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t size) { resize(size); }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(values_); }

    // What was there stays; it grows by halves, so that growing step by step costs little.
    void resize(size_t size) {
        if (size > capacity_) {
            const size_t capacity = size > capacity_ + capacity_ / 2 ? size : capacity_ + capacity_ / 2;
            const size_t bytes = (capacity * sizeof(Value) + 127) / 64 * 64 + 64;
            auto* values = static_cast<Value*>(std::aligned_alloc(64, bytes));
            if (!values) throw std::bad_alloc();
            if (size_) std::memcpy(values, values_, size_ * sizeof(Value));
            std::free(values_);
            values_ = values;
            capacity_ = capacity;
        }
        size_ = size;
    }
    Value* data() { return values_; }
    const Value* data() const { return values_; }
    size_t size() const { return size_; }
    Value& operator[](size_t place) { return values_[place]; }
    const Value& operator[](size_t place) const { return values_[place]; }

  private:
    void swap(Buffer& other) {
        std::swap(values_, other.values_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    Value* values_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
};
