// y = x · Wᵀ + b, with W packed once into the order in which it is read.
#pragma once

#include <algorithm>

#include "vectors.hpp"

// int8: weights have a scale for each output, inputs one for each row, sums are exact. A row's result does not
// depend on the rows beside it, in either type.
enum class Precision { float32 = 0, int8 = 1 };
enum class Then { set, relu, add };  // what becomes of the result: y = …, y = max(0, …), y += …

#if defined(__AVX512VNNI__) && defined(__AVX512F__)
constexpr bool HAS_INT8 = true;
inline Ints dot4(Ints sums, Ints weights, int32_t inputs) {
    return (Ints)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)weights, _mm512_set1_epi32(inputs));
}
#elif defined(__AVXVNNI__)
constexpr bool HAS_INT8 = true;
inline Ints dot4(Ints sums, Ints weights, int32_t inputs) {
    return (Ints)_mm256_dpbusd_avx_epi32((__m256i)sums, (__m256i)weights, _mm256_set1_epi32(inputs));
}
#else
constexpr bool HAS_INT8 = false;
inline Ints dot4(Ints sums, Ints, int32_t) { return sums; }
#endif

// Rows of inputs as int8, padded to a multiple of four.
struct Quantised {
    Buffer<int8_t> rows;
    Buffer<float> scales;
    Buffer<int32_t> sums;
    int stride = 0;

    void fill(const float* x, int count, int width) {
        stride = (width + 3) / 4 * 4;
        rows.resize(static_cast<size_t>(count) * stride);
        scales.resize(count);
        sums.resize(count);
        for (int m = 0; m < count; m++) fill_row(x + static_cast<size_t>(m) * width, m, width);
    }

  private:
    using Bytes = int8_t __attribute__((vector_size(LANES)));

    void fill_row(const float* x, int m, int width) {
        Floats most = splat(0);
        int k = 0;
        for (; k + LANES <= width; k += LANES) most = larger(most, magnitude(load(x + k)));
        float bound = largest(most);
        for (int tail = k; tail < width; tail++) bound = std::max(bound, std::fabs(x[tail]));
        const float inverse = bound > 0 ? 127.0f / bound : 0.0f;
        int8_t* row = rows.data() + static_cast<size_t>(m) * stride;
        Ints sum = {};
        for (k = 0; k + LANES <= width; k += LANES) {
            const Ints values = rounded(load(x + k) * inverse);
            sum += values;
            const Bytes bytes = __builtin_convertvector(values, Bytes);
            std::memcpy(row + k, &bytes, sizeof bytes);
        }
        int32_t rest = 0;
        for (int lane = 0; lane < LANES; lane++) rest += sum[lane];
        for (; k < width; k++) {
            row[k] = static_cast<int8_t>(std::lround(x[k] * inverse));
            rest += row[k];
        }
        for (; k < stride; k++) row[k] = 0;
        scales[m] = bound / 127.0f;
        sums[m] = rest;
    }
};

class Linear {
  public:
    Linear() = default;

    // weights (outputs, inputs), row after row; bias may be null.
    Linear(const float* weights, const float* bias, int outputs, int inputs, Precision precision)
        : precision_(precision), outputs_(outputs), inputs_(inputs) {
        const int together = LANES * (precision == Precision::int8 ? BYTE_COLUMNS : FLOAT_COLUMNS);
        padded_ = (outputs + together - 1) / together * together;
        bias_.resize(padded_);
        for (int n = 0; n < padded_; n++) bias_[n] = bias && n < outputs ? bias[n] : 0.0f;
        precision == Precision::int8 ? pack_bytes(weights) : pack_floats(weights);
    }

    int outputs() const { return outputs_; }

    // x (count, inputs) to y (count, outputs).
    void apply(const float* x, int count, float* y, Then then, Quantised& scratch) const {
        if (precision_ == Precision::int8) {
            scratch.fill(x, count, inputs_);
            for (int column = 0; column < padded_; column += BYTE_COLUMNS * LANES)
                by_rows(count, [&]<int R>(int row) { byte_tile<R>(scratch, row, column, y, then); });
        } else {
            for (int column = 0; column < padded_; column += FLOAT_COLUMNS * LANES)
                by_rows(count, [&]<int R>(int row) { float_tile<R>(x, row, column, y, then); });
        }
    }

  private:
    // Registers of outputs that are summed up side by side, for four rows at a time. With more rows, not all sums
    // stay in registers (GCC 12), and int8 falls to less than half its speed.
    static constexpr int BYTE_COLUMNS = 4, FLOAT_COLUMNS = 4;

    Precision precision_ = Precision::float32;
    int outputs_ = 0, inputs_ = 0, padded_ = 0;
    Buffer<float> bias_, floats_, scales_;
    Buffer<uint8_t> bytes_;

    int quads() const { return (inputs_ + 3) / 4; }

    // [outputs / LANES][inputs][LANES]
    void pack_floats(const float* weights) {
        floats_.resize(static_cast<size_t>(padded_) * inputs_);
        for (int n = 0; n < padded_; n++)
            for (int k = 0; k < inputs_; k++)
                floats_[(static_cast<size_t>(n / LANES) * inputs_ + k) * LANES + n % LANES] =
                    n < outputs_ ? weights[static_cast<size_t>(n) * inputs_ + k] : 0.0f;
    }

    // [outputs / LANES][inputs / 4][LANES][4]. Stored as weight + 128, for the instruction multiplies unsigned by
    // signed; `byte_tile` takes the 128 off again.
    void pack_bytes(const float* weights) {
        bytes_.resize(static_cast<size_t>(padded_) * quads() * 4);
        std::memset(bytes_.data(), 128, bytes_.size());
        scales_.resize(padded_);
        for (int n = 0; n < padded_; n++) {
            scales_[n] = 0;
            if (n >= outputs_) continue;
            const float* row = weights + static_cast<size_t>(n) * inputs_;
            float bound = 0;
            for (int k = 0; k < inputs_; k++) bound = std::max(bound, std::fabs(row[k]));
            if (bound == 0) continue;
            scales_[n] = bound / 127.0f;
            uint8_t* block = bytes_.data() + static_cast<size_t>(n / LANES) * quads() * LANES * 4;
            for (int k = 0; k < inputs_; k++)
                block[(k / 4 * LANES + n % LANES) * 4 + k % 4] =
                    static_cast<uint8_t>(std::lround(row[k] / scales_[n]) + 128);
        }
    }

    template <typename Work>
    static void by_rows(int count, Work work) {
        int row = 0;
        for (; row + 4 <= count; row += 4) work.template operator()<4>(row);
        if (row + 2 <= count) work.template operator()<2>(row), row += 2;
        if (row < count) work.template operator()<1>(row);
    }

    template <int R>
    void float_tile(const float* x, int row, int column, float* y, Then then) const {
        constexpr int C = FLOAT_COLUMNS;
        const float* weights = floats_.data() + static_cast<size_t>(column) * inputs_;
        const size_t block = static_cast<size_t>(inputs_) * LANES;
        x += static_cast<size_t>(row) * inputs_;
        Floats sums[R][C];
        for (int c = 0; c < C; c++)
            for (int r = 0; r < R; r++) sums[r][c] = load(bias_.data() + column + c * LANES);
        for (int k = 0; k < inputs_; k++) {
            Floats of_column[C];
            for (int c = 0; c < C; c++) of_column[c] = load(weights + c * block + static_cast<size_t>(k) * LANES);
            for (int r = 0; r < R; r++) {
                const Floats input = splat(x[static_cast<size_t>(r) * inputs_ + k]);
                for (int c = 0; c < C; c++) sums[r][c] += input * of_column[c];
            }
        }
        write<R, C>(sums, row, column, y, then);
    }

    template <int R>
    void byte_tile(const Quantised& x, int row, int column, float* y, Then then) const {
        constexpr int C = BYTE_COLUMNS;
        const uint8_t* weights = bytes_.data() + static_cast<size_t>(column) * quads() * 4;
        const size_t block = static_cast<size_t>(quads()) * LANES * 4;
        const int8_t* inputs = x.rows.data() + static_cast<size_t>(row) * x.stride;
        Ints sums[R][C] = {};
        for (int quad = 0; quad < quads(); quad++) {
            Ints of_column[C];
            for (int c = 0; c < C; c++)
                std::memcpy(&of_column[c], weights + c * block + static_cast<size_t>(quad) * LANES * 4, sizeof(Ints));
            for (int r = 0; r < R; r++) {
                int32_t four;
                std::memcpy(&four, inputs + static_cast<size_t>(r) * x.stride + quad * 4, 4);
                for (int c = 0; c < C; c++) sums[r][c] = dot4(sums[r][c], of_column[c], four);
            }
        }
        Floats values[R][C];
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++) {
                const int n = column + c * LANES;
                const Floats exact = __builtin_convertvector(sums[r][c] - 128 * x.sums[row + r], Floats);
                values[r][c] = exact * x.scales[row + r] * load(scales_.data() + n) + load(bias_.data() + n);
            }
        write<R, C>(values, row, column, y, then);
    }

    template <int R, int C>
    void write(Floats (&values)[R][C], int row, int column, float* y, Then then) const {
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++) {
                const int n = column + c * LANES, count = std::min(LANES, outputs_ - n);
                if (count <= 0) break;
                float* to = y + static_cast<size_t>(row + r) * outputs_ + n;
                Floats before = {};
                if (then == Then::add) std::memcpy(&before, to, count * sizeof(float));
                Floats value = values[r][c] + before;
                if (then == Then::relu) value = larger(value, splat(0));
                count == LANES ? store(to, value) : void(std::memcpy(to, &value, count * sizeof(float)));
            }
    }
};
