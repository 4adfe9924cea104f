// Greedy and beam search for one sentence, as model/search has them, over the best candidates of each step.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "vectors.hpp"

constexpr float NEVER = -std::numeric_limits<float>::infinity();

// How to decode, in the order in which model/native/session.py writes it. A beam of one is greedy search.
struct Options {
    int32_t beam, n_best, min_length, max_length, look_ahead;
    float length_penalty, margin;
};

struct Hypothesis {
    std::vector<int32_t> ids;
    std::vector<float> id_scores;  // of the end, too, unless truncated
    float score = 0;
    bool truncated = false;
};

// What may follow one of the rows. `total` is the sum of log-probabilities with it.
struct Candidate {
    float total;
    int32_t row, id;
    float log_prob;
};

// log Σ e^logit, the distance from logits to log-probabilities.
inline float log_normaliser(const float* logits, int count) {
    Floats most = splat(NEVER);
    int k = 0;
    for (; k + LANES <= count; k += LANES) most = larger(most, load(logits + k));
    float top = largest(most);
    for (int tail = k; tail < count; tail++) top = std::max(top, logits[tail]);
    Floats sums = splat(0);
    for (k = 0; k + LANES <= count; k += LANES) sums += exponential(load(logits + k) - top);
    float sum = total(sums);
    for (; k < count; k++) sum += std::exp(logits[k] - top);
    return top + std::log(sum);
}

// The best candidates of several rows together, best first.
class Best {
  public:
    explicit Best(size_t most) : most_(most) { candidates_.reserve(most + 1); }

    // All ids of a row: `offset` makes a logit a total, `normaliser` takes it to a log-probability.
    void look(const float* logits, int count, int row, float offset, float normaliser) {
        int k = 0;
        for (; k + LANES <= count; k += LANES) {
            const Ints is_better = load(logits + k) > splat(bound_ - offset);
            if (!any(is_better)) continue;
            for (int lane = 0; lane < LANES; lane++) offer(logits[k + lane], row, k + lane, offset, normaliser);
        }
        for (; k < count; k++) offer(logits[k], row, k, offset, normaliser);
    }

    const std::vector<Candidate>& candidates() const { return candidates_; }

  private:
    size_t most_;
    float bound_ = NEVER;  // the total that a candidate has to beat
    std::vector<Candidate> candidates_;

    static bool any(Ints mask) {
#if defined(__AVX512F__)
        return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask);
#else
        for (int lane = 0; lane < LANES; lane++)
            if (mask[lane]) return true;
        return false;
#endif
    }

    void offer(float logit, int row, int id, float offset, float normaliser) {
        const Candidate candidate{logit + offset, row, id, logit - normaliser};
        if (!(candidate.total > bound_)) return;
        const auto place = std::upper_bound(candidates_.begin(), candidates_.end(), candidate,
                                            [](const auto& a, const auto& b) { return a.total > b.total; });
        candidates_.insert(place, candidate);
        if (candidates_.size() > most_) candidates_.pop_back();
        if (candidates_.size() == most_) bound_ = candidates_.back().total;
    }
};

// Stops "so so so so …" and leaves real doubling alone: model/search/loops.py says how.
class LoopGuard {
  public:
    LoopGuard(const int64_t* source, int length) {
        for (int n = 1; n <= LONGEST_LOOP; n++) limits_[n - 1] = std::max(FREE_REPEATS, repeats(source, length, n) + 1);
    }

    // The ids that would complete one repetition too many become impossible.
    void forbid(const std::vector<int32_t>& ids, float* logits) const {
        const int length = static_cast<int>(ids.size());
        for (int n = 1; n <= std::min(LONGEST_LOOP, length); n++) {
            int run = 0;  // for how many ids each equals the one n before it
            const auto from_end = [&](int place) { return ids[length - 1 - place]; };
            while (run + n < length && from_end(run) == from_end(run + n)) run++;
            if (run + 1 >= n * limits_[n - 1]) logits[ids[length - n]] = NEVER;
        }
    }

  private:
    static constexpr int LONGEST_LOOP = 8, FREE_REPEATS = 4;
    std::array<int, LONGEST_LOOP> limits_;

    static int repeats(const int64_t* ids, int length, int n) {
        int longest = 0, run = 0;
        for (int place = n; place < length; place++) {
            run = ids[place] == ids[place - n] ? run + 1 : 0;
            longest = std::max(longest, run);
        }
        return longest / n + 1;
    }
};

// The search for one sentence: its unfinished hypotheses, one a row, and those that are finished.
class Hunt {
  public:
    Hunt(int64_t name, const int64_t* source, int length, const Options& options, int32_t start, int32_t end)
        : name_(name), options_(options), end_(end), guard_(source, length), rows_(1), last_ids_{start} {}

    int64_t name() const { return name_; }
    const std::vector<int64_t>& last_ids() const { return last_ids_; }
    bool is_over() const { return rows_.empty(); }
    // 2W of them can go on even if W of them end.
    size_t candidates() const { return options_.beam == 1 ? 1 : 2 * static_cast<size_t>(options_.beam); }

    // Looks at the logits of one row, and changes them.
    void look(float* logits, int count, int row, const std::vector<int32_t>& banned, Best& best) const {
        const float normaliser = log_normaliser(logits, count);
        for (const int32_t id : banned) logits[id] = NEVER;
        if (length_ < options_.min_length) logits[end_] = NEVER;
        guard_.forbid(rows_[row].ids, logits);
        best.look(logits, count, row, rows_[row].total - normaliser, normaliser);
    }

    // Goes on with the best candidates; gives the old row that each new row continues, none when it is over.
    std::vector<int32_t> advance(const std::vector<Candidate>& candidates) {
        if (options_.beam == 1) return walk(candidates);
        finish(candidates);
        std::vector<int32_t> parents;
        if (length_ < options_.max_length)
            parents = go_on(candidates);
        else if (finished_.empty())
            for (const Row& row : rows_) add(row.ids, row.id_scores, row.total, true);
        if (parents.empty()) close();
        length_++;
        return parents;
    }

    std::vector<Hypothesis>& finished() { return finished_; }

  private:
    struct Row {
        float total = 0;
        std::vector<int32_t> ids;
        std::vector<float> id_scores;
    };
    int64_t name_;
    Options options_;
    int32_t end_;
    LoopGuard guard_;
    std::vector<Row> rows_;
    std::vector<int64_t> last_ids_;
    std::vector<Hypothesis> finished_;
    int length_ = 0;

    float normalised(float total, int length) const {
        return static_cast<float>(total / std::pow(static_cast<double>(length), options_.length_penalty));
    }

    void add(std::vector<int32_t> ids, std::vector<float> id_scores, float total, bool truncated) {
        const int length = std::max<int>(1, static_cast<int>(id_scores.size()));
        finished_.push_back({std::move(ids), std::move(id_scores), normalised(total, length), truncated});
    }

    void close() {
        std::stable_sort(finished_.begin(), finished_.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
        if (finished_.size() > static_cast<size_t>(options_.n_best)) finished_.resize(options_.n_best);
        rows_.clear();
        last_ids_.clear();
    }

    // Greedy search. At the limit it asks once more, only to learn whether the hypothesis ends here by itself.
    std::vector<int32_t> walk(const std::vector<Candidate>& candidates) {
        Row& row = rows_[0];
        const bool ends = !candidates.empty() && candidates[0].id == end_;
        const bool goes_on = !candidates.empty() && !ends && length_ < options_.max_length;
        if (ends || goes_on) {
            row.id_scores.push_back(candidates[0].log_prob);
            row.total += candidates[0].log_prob;
        }
        length_++;
        if (goes_on) {
            row.ids.push_back(candidates[0].id);
            last_ids_[0] = candidates[0].id;
            return {0};
        }
        add(std::move(row.ids), std::move(row.id_scores), row.total, !ends);
        close();
        return {};
    }

    // Those among the first W that end are finished.
    void finish(const std::vector<Candidate>& candidates) {
        for (size_t place = 0; place < std::min<size_t>(options_.beam, candidates.size()); place++) {
            const Candidate& one = candidates[place];
            if (one.id != end_ || !(one.total > NEVER)) continue;
            std::vector<float> id_scores = rows_[one.row].id_scores;
            id_scores.push_back(one.log_prob);
            add(rows_[one.row].ids, std::move(id_scores), one.total, false);
        }
    }

    // The score that has to be beaten: of the n-th best finished hypothesis.
    float to_beat() const {
        if (finished_.size() < static_cast<size_t>(options_.n_best)) return NEVER;
        std::vector<float> scores;
        for (const Hypothesis& one : finished_) scores.push_back(one.score);
        std::sort(scores.begin(), scores.end(), std::greater<>());
        return scores[options_.n_best - 1];
    }

    // The best score that an unfinished hypothesis can still reach: its sum only falls, its length only grows, and the
    // score is monotone in the length, so that one of the two ends is the best case.
    float best_case(float total) const {
        const int longest = std::min(options_.max_length + 1, length_ + 1 + options_.look_ahead);
        return std::max(normalised(total, length_ + 2), normalised(total, longest));
    }

    // The first W that do not end go on, but for those that are hopeless.
    std::vector<int32_t> go_on(const std::vector<Candidate>& candidates) {
        std::vector<Row> rows;
        std::vector<int32_t> parents;
        last_ids_.clear();
        const float to_beat = this->to_beat();
        for (const Candidate& one : candidates) {
            if (one.id == end_ || !(one.total > NEVER)) continue;
            if (rows.size() == static_cast<size_t>(options_.beam) || best_case(one.total) <= to_beat) break;
            if (rows.size() >= static_cast<size_t>(options_.n_best) && one.total < rows[0].total - options_.margin) break;
            Row row = rows_[one.row];
            row.total = one.total;
            row.ids.push_back(one.id);
            row.id_scores.push_back(one.log_prob);
            rows.push_back(std::move(row));
            parents.push_back(one.row);
            last_ids_.push_back(one.id);
        }
        rows_ = std::move(rows);
        return parents;
    }
};
