// Norms, activations and attention, a row at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "vectors.hpp"

inline float dot(const float* a, const float* b, int count) {
    Floats sums = splat(0);
    int k = 0;
    for (; k + LANES <= count; k += LANES) sums += load(a + k) * load(b + k);
    float sum = total(sums);
    for (; k < count; k++) sum += a[k] * b[k];
    return sum;
}

struct Norm {
    Buffer<float> gain, bias;  // of RMSNorm, the bias is zero
    int width = 0;
    float epsilon = 0;
    bool centres = true;  // LayerNorm takes the mean off, RMSNorm does not

    void apply(const float* x, int count, float* y) const {
        for (int row = 0; row < count; row++, x += width, y += width) apply_row(x, y);
    }

  private:
    void apply_row(const float* x, float* y) const {
        float mean = 0;
        if (centres) {
            Floats sums = splat(0);
            int k = 0;
            for (; k + LANES <= width; k += LANES) sums += load(x + k);
            mean = total(sums);
            for (; k < width; k++) mean += x[k];
            mean /= static_cast<float>(width);
        }
        Floats squares = splat(0);
        int k = 0;
        for (; k + LANES <= width; k += LANES) {
            const Floats off = load(x + k) - mean;
            squares += off * off;
        }
        float square = total(squares);
        for (; k < width; k++) square += (x[k] - mean) * (x[k] - mean);
        const float scale = 1.0f / std::sqrt(square / static_cast<float>(width) + epsilon);
        for (k = 0; k + LANES <= width; k += LANES)
            store(y + k, (load(x + k) - mean) * scale * load(gain.data() + k) + load(bias.data() + k));
        for (; k < width; k++) y[k] = (x[k] - mean) * scale * gain[k] + bias[k];
    }
};

inline void silu(float* x, size_t count) {
    size_t place = 0;
    for (; place + LANES <= count; place += LANES) {
        const Floats value = load(x + place);
        store(x + place, value / (exponential(-value) + 1.0f));
    }
    for (; place < count; place++) x[place] /= 1.0f + std::exp(-x[place]);
}

inline void gelu(float* x, size_t count) {
    for (size_t place = 0; place < count; place++)
        x[place] *= 0.5f * (1.0f + std::erf(x[place] * 0.70710678f));
}

inline void multiply(float* x, const float* by, size_t count) {
    for (size_t place = 0; place < count; place++) x[place] *= by[place];
}

// Scores become weights that sum to 1. The buffer has a register's worth of room behind `count`.
inline void softmax(float* scores, int count) {
    for (int lane = 0; lane < LANES; lane++) scores[count + lane] = -INFINITY;
    Floats most = load(scores);
    for (int place = LANES; place < count; place += LANES) most = larger(most, load(scores + place));
    const float top = largest(most);
    for (int lane = 0; lane < LANES; lane++) scores[count + lane] = top - 200;  // e^-200 is 0 here
    Floats sums = splat(0);
    for (int place = 0; place < count; place += LANES) {
        const Floats weights = exponential(load(scores + place) - top);
        store(scores + place, weights);
        sums += weights;
    }
    const float scale = 1.0f / total(sums);
    for (int place = 0; place < count; place += LANES) store(scores + place, load(scores + place) * scale);
}

// How keys and values are remembered: as they are, or in half precision, which halves what has to be read at each
// step. The rounding, 2^-11 of a value, is small beside that of int8 weights.
#if defined(__AVX512F__)
using Half = uint16_t;
inline Floats load_cells(const Half* from) {
    return (Floats)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
inline void store_cells(Half* to, const float* from, int count) {
    int k = 0;
    for (; k + LANES <= count; k += LANES)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k),
                            _mm512_cvtps_ph((__m512)load(from + k), _MM_FROUND_TO_NEAREST_INT));
    for (; k < count; k++) to[k] = _cvtss_sh(from[k], _MM_FROUND_TO_NEAREST_INT);
}
inline float cell(Half value) { return _cvtsh_ss(value); }
#else
struct Half {
    float value;
};
inline Floats load_cells(const Half* from) { return load(&from->value); }
inline void store_cells(Half* to, const float* from, int count) { std::memcpy(to, from, count * sizeof(float)); }
inline float cell(Half value) { return value.value; }
#endif
inline Floats load_cells(const float* from) { return load(from); }
inline void store_cells(float* to, const float* from, int count) { std::memcpy(to, from, count * sizeof(float)); }
inline float cell(float value) { return value; }

// One query head looks at `count` keys, key and value of place p at key_at(p) and value_at(p): what it finds goes
// to `found`. `width` is that of the head, `scores` has room for `count` and a register more.
template <typename Key, typename Value>
void attend(const float* query, int width, int count, Key key_at, Value value_at, float* scores, float* found) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(width));
    for (int place = 0; place < count; place++) {
        const auto* key = key_at(place);
        Floats sums = splat(0);
        int k = 0;
        for (; k + LANES <= width; k += LANES) sums += load(query + k) * load_cells(key + k);
        float score = total(sums);
        for (; k < width; k++) score += query[k] * cell(key[k]);
        scores[place] = score * scale;
    }
    softmax(scores, count);
    int k = 0;
    for (; k + 4 * LANES <= width; k += 4 * LANES) {
        Floats sums[4] = {};
        for (int place = 0; place < count; place++) {
            const auto* value = value_at(place) + k;
            for (int c = 0; c < 4; c++) sums[c] += load_cells(value + c * LANES) * scores[place];
        }
        for (int c = 0; c < 4; c++) store(found + k + c * LANES, sums[c]);
    }
    for (; k + LANES <= width; k += LANES) {
        Floats sums = splat(0);
        for (int place = 0; place < count; place++) sums += load_cells(value_at(place) + k) * scores[place];
        store(found + k, sums);
    }
    for (; k < width; k++) {
        found[k] = 0;
        for (int place = 0; place < count; place++) found[k] += cell(value_at(place)[k]) * scores[place];
    }
}

// RoPE: pair (i, i + width/2) of each head is turned by the angles of its position (arXiv 2104.09864).
inline void rotate(float* heads, int count, int width, const float* cosines, const float* sines) {
    const int half = width / 2;
    for (int head = 0; head < count; head++, heads += width)
        for (int i = 0; i < half; i++) {
            const float first = heads[i], second = heads[i + half];
            heads[i] = first * cosines[i] - second * sines[i];
            heads[i + half] = second * cosines[i] + first * sines[i];
        }
}
