// What decoding remembers, and a step of it. Each sentence has its own memory and its own past, so that it can leave
// whenever it is done, whoever is beside it; only matrix products run over all rows at once.
#pragma once

#include <vector>

#include "model.hpp"

// Keys and values of a position, of one layer or of all, as Cells.
template <typename Cell>
struct Sentence {
    int source_length = 0;
    int length = 0;        // target positions so far
    Buffer<Cell> memory;   // [layer][source position][keys, values]
    // A slot is written once and never moved: [slot][layer][keys, values]. A hypothesis is a list of slots, and
    // reordering a beam copies such lists instead of what they name.
    Buffer<Cell> past;
    size_t slots = 0;
    std::vector<std::vector<int32_t>> rows;  // [row of the beam][position] → slot
};

// The sentences in work, one behind the other, and their rows: N in all. One thread works on a state at a time.
class State {
  public:
    virtual ~State() = default;

    // Encodes sources (ids one after the other) and puts their sentences behind those that are there, a row each.
    virtual void add(const int64_t* ids, const int32_t* lengths, int count) = 0;
    virtual int rows() const = 0;
    virtual int rows(int sentence) const = 0;
    // The last id of each row; gives the decoder's output, (N, width), normalised and ready for `output`.
    virtual const float* step(const int64_t* tokens) = 0;
    // Logits (count, vocabulary) of some rows of the decoder's output.
    virtual void output(const float* x, int count, float* logits) = 0;
    // The sentence's rows become those named, in that order, repeated where named twice.
    virtual void reorder(int sentence, const int32_t* rows, int count) = 0;
    // Only the named sentences stay, in that order.
    virtual void keep(const int32_t* sentences, int count) = 0;
};

template <typename Cell>
class StateOf final : public State {
  public:
    static constexpr int ROWS_TOGETHER = 192;  // of the encoder: their inner rows stay in the cache

    explicit StateOf(const Model& model) : model_(model), shape_(model.shape), pass_(model, scratch_) {}

    void add(const int64_t* ids, const int32_t* lengths, int count) override {
        size_t place = sentences_.size();
        sentences_.resize(place + count);
        for (int first = 0; first < count;) {
            int last = first, total = 0;
            while (last < count && (last == first || total + lengths[last] <= ROWS_TOGETHER)) total += lengths[last++];
            encode(ids, lengths + first, last - first, total, place + first);
            ids += total;
            first = last;
        }
    }

    int rows() const override {
        size_t count = 0;
        for (const auto& sentence : sentences_) count += sentence.rows.size();
        return static_cast<int>(count);
    }

    int rows(int sentence) const override { return static_cast<int>(sentences_[sentence].rows.size()); }

    const float* step(const int64_t* tokens) override {
        const int count = rows();
        const int slot_size = shape_.decoder_layers * 2 * shape_.group_width();
        scratch_.x.resize(static_cast<size_t>(count) * shape_.width);
        int row = 0;
        for (auto& sentence : sentences_) {
            sentence.past.resize((sentence.slots + sentence.rows.size()) * slot_size);
            for (auto& slots : sentence.rows) {
                slots.push_back(static_cast<int32_t>(sentence.slots++));
                pass_.embed(tokens + row, model_.target_table, row);
                if (!shape_.is_rotary) pass_.add_code(model_.target_codes, sentence.length, row);
                row++;
            }
        }
        for (int layer = 0; layer < shape_.decoder_layers; layer++) {
            const DecoderLayer& part = model_.decoder[layer];
            attend_to_past(part, layer, count);
            attend_to_memory(part, layer, count);
            pass_.feed_forward(part.feed_forward, part.around_feed_forward, count);
        }
        for (auto& sentence : sentences_) sentence.length++;
        return shape_.is_post_norm ? scratch_.x.data() : pass_.enter(model_.decoder_norm, count);
    }

    void output(const float* x, int count, float* logits) override {
        model_.output.apply(x, count, logits, Then::set, scratch_.quantised);
    }

    void reorder(int sentence, const int32_t* rows, int count) override {
        std::vector<std::vector<int32_t>> continued(count);
        for (int w = 0; w < count; w++) continued[w] = sentences_[sentence].rows[rows[w]];
        sentences_[sentence].rows = std::move(continued);
    }

    void keep(const int32_t* sentences, int count) override {
        std::vector<Sentence<Cell>> staying(count);
        for (int b = 0; b < count; b++) staying[b] = std::move(sentences_[sentences[b]]);
        sentences_ = std::move(staying);
    }

  private:
    const Model& model_;
    const Shape& shape_;
    Scratch scratch_;
    Pass pass_;
    std::vector<Sentence<Cell>> sentences_;

    void encode(const int64_t* ids, const int32_t* lengths, int count, int total, size_t first) {
        const int width = shape_.width, group_width = shape_.group_width();
        scratch_.x.resize(static_cast<size_t>(total) * width);
        for (int b = 0, row = 0; b < count; b++)
            for (int position = 0; position < lengths[b]; position++, row++) {
                pass_.embed(ids + row, model_.source_table, row);
                if (!shape_.is_rotary) pass_.add_code(model_.source_codes, position, row);
            }
        for (const EncoderLayer& part : model_.encoder) {
            attend_among(part, lengths, count, total);
            pass_.feed_forward(part.feed_forward, part.around_feed_forward, total);
        }
        const float* x = shape_.is_post_norm ? scratch_.x.data() : pass_.enter(model_.encoder_norm, total);
        for (int b = 0; b < count; b++) {
            Sentence<Cell>& sentence = sentences_[first + b];
            sentence.source_length = lengths[b];
            sentence.memory.resize(static_cast<size_t>(shape_.decoder_layers) * lengths[b] * 2 * group_width);
            sentence.rows.resize(1);
        }
        for (int layer = 0; layer < shape_.decoder_layers; layer++) {
            const float* from = pass_.project(model_.decoder[layer].keys_values, x, total);
            for (int b = 0; b < count; b++) {
                const size_t size = static_cast<size_t>(lengths[b]) * 2 * group_width;
                store_cells(sentences_[first + b].memory.data() + layer * size, from, static_cast<int>(size));
                from += size;
            }
        }
    }

    // Encoder: every position of a source looks at all of them.
    void attend_among(const EncoderLayer& part, const int32_t* lengths, int count, int total) {
        const int head_width = shape_.head_width(), stride = shape_.width + 2 * shape_.group_width();
        float* rows = pass_.project(part.queries_keys_values, pass_.enter(part.around_attention, total), total);
        scratch_.found.resize(static_cast<size_t>(total) * shape_.width);
        float* found = scratch_.found.data();
        for (int b = 0; b < count; b++) {
            if (shape_.is_rotary)
                for (int position = 0; position < lengths[b]; position++)
                    pass_.turn(rows + static_cast<size_t>(position) * stride, model_.source_codes, model_.source_sines, position);
            scratch_.scores.resize(lengths[b] + LANES);
            for (int head = 0; head < shape_.heads; head++) {
                const float* keys = rows + shape_.width + group_of(head) * head_width;
                const auto key_at = [&](int place) { return keys + static_cast<size_t>(place) * stride; };
                const auto value_at = [&](int place) { return key_at(place) + shape_.group_width(); };
                for (int position = 0; position < lengths[b]; position++)
                    attend(rows + static_cast<size_t>(position) * stride + head * head_width, head_width, lengths[b],
                           key_at, value_at, scratch_.scores.data(),
                           found + static_cast<size_t>(position) * shape_.width + head * head_width);
            }
            rows += static_cast<size_t>(lengths[b]) * stride;
            found += static_cast<size_t>(lengths[b]) * shape_.width;
        }
        pass_.leave(part.output, scratch_.found.data(), part.around_attention, total);
    }

    void attend_to_past(const DecoderLayer& part, int layer, int count) {
        const int head_width = shape_.head_width(), group_width = shape_.group_width();
        const size_t slot_size = static_cast<size_t>(shape_.decoder_layers) * 2 * group_width;
        float* row = pass_.project(part.queries_keys_values, pass_.enter(part.around_attention, count), count);
        scratch_.found.resize(static_cast<size_t>(count) * shape_.width);
        float* found = scratch_.found.data();
        for (auto& sentence : sentences_) {
            scratch_.scores.resize(sentence.length + 1 + LANES);
            Cell* past = sentence.past.data() + static_cast<size_t>(layer) * 2 * group_width;
            for (const auto& slots : sentence.rows) {
                if (shape_.is_rotary) pass_.turn(row, model_.target_codes, model_.target_sines, sentence.length);
                store_cells(past + slots.back() * slot_size, row + shape_.width, 2 * group_width);
                for (int head = 0; head < shape_.heads; head++) {
                    const Cell* keys = past + group_of(head) * head_width;
                    const auto key_at = [&](int place) { return keys + slots[place] * slot_size; };
                    const auto value_at = [&](int place) { return key_at(place) + group_width; };
                    attend(row + head * head_width, head_width, sentence.length + 1, key_at, value_at,
                           scratch_.scores.data(), found + head * head_width);
                }
                row += shape_.width + 2 * group_width;
                found += shape_.width;
            }
        }
        pass_.leave(part.output, scratch_.found.data(), part.around_attention, count);
    }

    void attend_to_memory(const DecoderLayer& part, int layer, int count) {
        const int head_width = shape_.head_width(), group_width = shape_.group_width();
        const float* row = pass_.project(part.queries, pass_.enter(part.around_cross_attention, count), count);
        float* found = scratch_.found.data();
        for (auto& sentence : sentences_) {
            const size_t size = static_cast<size_t>(sentence.source_length) * 2 * group_width;
            const Cell* memory = sentence.memory.data() + layer * size;
            const size_t beam = sentence.rows.size();
            scratch_.scores.resize(sentence.source_length + LANES);
            for (int head = 0; head < shape_.heads; head++) {
                const Cell* keys = memory + group_of(head) * head_width;
                const auto key_at = [&](int place) { return keys + static_cast<size_t>(place) * 2 * group_width; };
                const auto value_at = [&](int place) { return key_at(place) + group_width; };
                for (size_t w = 0; w < beam; w++)  // one after the other over the same keys: they stay in the cache
                    attend(row + w * shape_.width + head * head_width, head_width, sentence.source_length, key_at,
                           value_at, scratch_.scores.data(), found + w * shape_.width + head * head_width);
            }
            row += beam * shape_.width;
            found += beam * shape_.width;
        }
        pass_.leave(part.cross_output, scratch_.found.data(), part.around_cross_attention, count);
    }

    // Which key and value head a query head asks.
    int group_of(int head) const { return head / (shape_.heads / shape_.groups); }
};
