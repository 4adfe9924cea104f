// Continuous batching: sentences join whenever there is room and leave as soon as they are done; what is in work at
// the same time shares every matrix product.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "search.hpp"
#include "state.hpp"

struct Ids {
    int32_t start, end;
    std::vector<int32_t> banned;
};

struct Answer {
    int64_t name;
    std::vector<Hypothesis> hypotheses;  // best first
};

class Session {
  public:
    static constexpr int ROWS_TOGETHER = 32;  // whose logits are computed and looked through while in the cache

    Session(const Model& model, std::unique_ptr<State> state, Ids ids)
        : vocabulary_(model.shape.vocabulary), width_(model.shape.width), state_(std::move(state)), ids_(std::move(ids)) {
        logits_.resize(static_cast<size_t>(ROWS_TOGETHER) * vocabulary_);
    }

    // `sources` are the ids of `count` sentences one after the other.
    void add(const int64_t* names, const int64_t* sources, const int32_t* lengths, const Options* options, int count) {
        state_->add(sources, lengths, count);
        for (int b = 0; b < count; b++) {
            hunts_.emplace_back(names[b], sources, lengths[b], options[b], ids_.start, ids_.end);
            sources += lengths[b];
        }
    }

    int rows() const { return state_->rows(); }

    // Up to `most` steps, or until a sentence is done. Gives the number of answers that can be taken.
    int advance(int most) {
        for (int step = 0; step < most && !hunts_.empty() && answers_.empty(); step++) advance_all();
        return static_cast<int>(answers_.size());
    }

    // The next answer; valid until the one after it is taken.
    const Answer* take() {
        if (answers_.empty()) return nullptr;
        taken_ = std::move(answers_.front());
        answers_.pop_front();
        return &taken_;
    }

    void drop(int64_t name) {
        leave([&](const Hunt& hunt) { return hunt.name() == name; });
    }

  private:
    int vocabulary_, width_;
    std::unique_ptr<State> state_;
    Ids ids_;
    std::vector<Hunt> hunts_;  // one for each sentence of the state
    std::deque<Answer> answers_;
    Answer taken_;
    std::vector<int64_t> tokens_;
    Buffer<float> logits_;

    void advance_all() {
        tokens_.clear();
        std::vector<std::pair<int, int>> places;  // of each row: its sentence, its place in the beam
        std::vector<Best> best;
        for (size_t b = 0; b < hunts_.size(); b++) {
            best.emplace_back(hunts_[b].candidates());
            for (size_t w = 0; w < hunts_[b].last_ids().size(); w++) {
                tokens_.push_back(hunts_[b].last_ids()[w]);
                places.emplace_back(b, w);
            }
        }
        const float* x = state_->step(tokens_.data());
        const int count = static_cast<int>(tokens_.size());
        for (int first = 0; first < count; first += ROWS_TOGETHER) {
            const int together = std::min(ROWS_TOGETHER, count - first);
            state_->output(x + static_cast<size_t>(first) * width_, together, logits_.data());
            for (int row = 0; row < together; row++) {
                const auto [b, w] = places[first + row];
                hunts_[b].look(logits_.data() + static_cast<size_t>(row) * vocabulary_, vocabulary_, w, ids_.banned, best[b]);
            }
        }
        for (size_t b = 0; b < hunts_.size(); b++) {
            const std::vector<int32_t> parents = hunts_[b].advance(best[b].candidates());
            if (hunts_[b].is_over())
                answers_.push_back({hunts_[b].name(), std::move(hunts_[b].finished())});
            else
                state_->reorder(static_cast<int>(b), parents.data(), static_cast<int>(parents.size()));
        }
        if (!answers_.empty()) leave([](const Hunt& hunt) { return hunt.is_over(); });
    }

    template <typename Claim>
    void leave(Claim is_leaving) {
        std::vector<int32_t> staying;
        std::vector<Hunt> hunts;
        for (size_t b = 0; b < hunts_.size(); b++) {
            if (is_leaving(hunts_[b])) continue;
            staying.push_back(static_cast<int32_t>(b));
            hunts.push_back(std::move(hunts_[b]));
        }
        hunts_ = std::move(hunts);
        state_->keep(staying.data(), static_cast<int>(staying.size()));
    }
};
