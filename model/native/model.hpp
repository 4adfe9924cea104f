// The encoder-decoder as model/transformer.py has it, over packed weights.
#pragma once

#include <vector>

#include "blocks.hpp"
#include "linear.hpp"

enum class FeedForwardKind { relu = 0, gelu = 1, silu = 2, swiglu = 3 };

// The numbers of a config, in the order in which model/native/engine.py writes them.
struct Shape {
    int32_t vocabulary, width, heads, groups, inner, encoder_layers, decoder_layers;
    int32_t is_rotary, is_post_norm, is_rms, feed_forward, precision;
    float epsilon;

    int head_width() const { return width / heads; }
    int group_width() const { return groups * head_width(); }  // of all keys of a position, or of all values
};

// Hands out tensors one after the other, in the order in which `Model` asks for its parts.
class Reader {
  public:
    Reader(const float* const* tensors, const Shape& shape) : tensors_(tensors), shape_(shape) {}

    const float* table() { return *tensors_++; }

    Linear linear(int outputs, int inputs) {
        const float *weights = table(), *bias = table();
        return Linear(weights, bias, outputs, inputs, static_cast<Precision>(shape_.precision));
    }

    Norm norm() {
        Norm norm;
        norm.width = shape_.width;
        norm.epsilon = shape_.epsilon;
        norm.centres = !shape_.is_rms;
        norm.gain = copy(table());
        norm.bias = norm.centres ? copy(table()) : zeros();
        return norm;
    }

  private:
    Buffer<float> copy(const float* from) const {
        Buffer<float> values(shape_.width);
        std::memcpy(values.data(), from, shape_.width * sizeof(float));
        return values;
    }
    Buffer<float> zeros() const {
        Buffer<float> values(shape_.width);
        std::memset(values.data(), 0, shape_.width * sizeof(float));
        return values;
    }
    const float* const* tensors_;
    const Shape& shape_;
};

struct FeedForward {
    Linear up, gate, down;

    FeedForward(Reader& read, const Shape& shape) {
        up = read.linear(shape.inner, shape.width);
        if (shape.feed_forward == static_cast<int>(FeedForwardKind::swiglu))
            gate = read.linear(shape.inner, shape.width);
        down = read.linear(shape.width, shape.inner);
    }
};

struct EncoderLayer {
    Linear queries_keys_values, output;
    FeedForward feed_forward;
    Norm around_attention, around_feed_forward;

    EncoderLayer(Reader& read, const Shape& shape)
        : queries_keys_values(read.linear(shape.width + 2 * shape.group_width(), shape.width)),
          output(read.linear(shape.width, shape.width)),
          feed_forward(read, shape),
          around_attention(read.norm()),
          around_feed_forward(read.norm()) {}
};

struct DecoderLayer {
    Linear queries_keys_values, output, queries, keys_values, cross_output;
    FeedForward feed_forward;
    Norm around_attention, around_cross_attention, around_feed_forward;

    DecoderLayer(Reader& read, const Shape& shape)
        : queries_keys_values(read.linear(shape.width + 2 * shape.group_width(), shape.width)),
          output(read.linear(shape.width, shape.width)),
          queries(read.linear(shape.width, shape.width)),
          keys_values(read.linear(2 * shape.group_width(), shape.width)),
          cross_output(read.linear(shape.width, shape.width)),
          feed_forward(read, shape),
          around_attention(read.norm()),
          around_cross_attention(read.norm()),
          around_feed_forward(read.norm()) {}
};

struct Model {
    Shape shape;
    // Tables are read where they are: whoever made the model keeps them. Codes are positions × width, or, with RoPE,
    // cosines and sines, positions × head width / 2.
    const float *source_table, *target_table, *source_codes, *target_codes, *source_sines, *target_sines;
    std::vector<EncoderLayer> encoder;
    std::vector<DecoderLayer> decoder;
    Norm encoder_norm, decoder_norm;  // of pre-norm models only
    Linear output;

    Model(const Shape& given, const float* const* tensors) : shape(given) {
        Reader read(tensors, shape);
        source_table = read.table();
        target_table = read.table();
        source_codes = read.table();
        target_codes = read.table();
        source_sines = shape.is_rotary ? read.table() : nullptr;
        target_sines = shape.is_rotary ? read.table() : nullptr;
        for (int layer = 0; layer < shape.encoder_layers; layer++) encoder.emplace_back(read, shape);
        for (int layer = 0; layer < shape.decoder_layers; layer++) decoder.emplace_back(read, shape);
        if (!shape.is_post_norm) encoder_norm = read.norm(), decoder_norm = read.norm();
        output = read.linear(shape.vocabulary, shape.width);
    }
};

// Room for what a pass computes on its way; it belongs to one thread at a time.
struct Scratch {
    Buffer<float> x, normalised, projected, found, inner, gate, scores;
    Quantised quantised;
};

// The parts of a layer that encoder and decoder share; x is (count, width), and each adds its part to it.
class Pass {
  public:
    Pass(const Model& model, Scratch& scratch) : shape_(model.shape), scratch_(scratch) {}

    void embed(const int64_t* ids, const float* table, int row) {
        const int width = shape_.width;
        const float scale = std::sqrt(static_cast<float>(width));
        float* x = scratch_.x.data() + static_cast<size_t>(row) * width;
        const float* from = table + static_cast<size_t>(*ids) * width;
        for (int k = 0; k < width; k++) x[k] = from[k] * scale;
    }

    void add_code(const float* codes, int position, int row) {
        float* x = scratch_.x.data() + static_cast<size_t>(row) * shape_.width;
        const float* code = codes + static_cast<size_t>(position) * shape_.width;
        for (int k = 0; k < shape_.width; k++) x[k] += code[k];
    }

    // What a sublayer reads: the rows, normalised where the norm comes first.
    const float* enter(const Norm& norm, int count) {
        if (shape_.is_post_norm) return scratch_.x.data();
        scratch_.normalised.resize(static_cast<size_t>(count) * shape_.width);
        norm.apply(scratch_.x.data(), count, scratch_.normalised.data());
        return scratch_.normalised.data();
    }

    // y = linear(x), in `projected`.
    float* project(const Linear& linear, const float* x, int count) {
        scratch_.projected.resize(static_cast<size_t>(count) * linear.outputs());
        linear.apply(x, count, scratch_.projected.data(), Then::set, scratch_.quantised);
        return scratch_.projected.data();
    }

    // The residual sum with what a sublayer found, normalised where the norm comes last.
    void leave(const Linear& linear, const float* found, const Norm& norm, int count) {
        linear.apply(found, count, scratch_.x.data(), Then::add, scratch_.quantised);
        if (shape_.is_post_norm) norm.apply(scratch_.x.data(), count, scratch_.x.data());
    }

    void feed_forward(const FeedForward& part, const Norm& norm, int count) {
        const float* x = enter(norm, count);
        const size_t size = static_cast<size_t>(count) * shape_.inner;
        const auto kind = static_cast<FeedForwardKind>(shape_.feed_forward);
        scratch_.inner.resize(size);
        float* inner = scratch_.inner.data();
        part.up.apply(x, count, inner, kind == FeedForwardKind::relu ? Then::relu : Then::set, scratch_.quantised);
        if (kind == FeedForwardKind::gelu) gelu(inner, size);
        if (kind == FeedForwardKind::silu) silu(inner, size);
        if (kind == FeedForwardKind::swiglu) {
            scratch_.gate.resize(size);
            part.gate.apply(x, count, scratch_.gate.data(), Then::set, scratch_.quantised);
            silu(scratch_.gate.data(), size);
            multiply(inner, scratch_.gate.data(), size);
        }
        leave(part.down, inner, norm, count);
    }

    // Turns the queries and keys of a row of queries, keys and values.
    void turn(float* row, const float* cosines, const float* sines, int position) {
        const size_t half = shape_.head_width() / 2;
        rotate(row, shape_.heads + shape_.groups, shape_.head_width(), cosines + position * half, sines + position * half);
    }

  private:
    const Shape& shape_;
    Scratch& scratch_;
};
