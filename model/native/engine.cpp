// The functions that Python calls (model/native/library.py). Nothing here keeps a thread or a global.
#include <memory>

#include "session.hpp"

namespace {

State* new_state(const Model& model) {
    if (static_cast<Precision>(model.shape.precision) == Precision::int8) return new StateOf<Half>(model);
    return new StateOf<float>(model);
}

// 0, or 1 where memory ran out: no exception may reach C.
template <typename Work>
int attempt(Work work) {
    try {
        work();
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

}  // namespace

extern "C" {

int dragoman_has_int8() { return HAS_INT8; }

// tensors: as model/native/engine.py lists them. Tables are read where they are; matrices are packed, and copied so.
void* dragoman_model(const Shape* shape, const float* const* tensors) {
    Model* model = nullptr;
    attempt([&] { model = new Model(*shape, tensors); });
    return model;
}

void dragoman_model_free(void* model) { delete static_cast<Model*>(model); }

// --- the step, for searches in Python

void* dragoman_start(const void* model, const int64_t* ids, const int32_t* lengths, int sentences) {
    std::unique_ptr<State> state;
    const int failed = attempt([&] {
        state.reset(new_state(*static_cast<const Model*>(model)));
        state->add(ids, lengths, sentences);
    });
    return failed ? nullptr : state.release();
}

int dragoman_rows(const void* state) { return static_cast<const State*>(state)->rows(); }

int dragoman_step(void* state, const int64_t* tokens, float* logits) {
    auto* of = static_cast<State*>(state);
    return attempt([&] { of->output(of->step(tokens), of->rows(), logits); });
}

// Row (b, w) continues the old row rows[b, w]; all of one b belong to one old sentence.
int dragoman_select(void* state, const int64_t* rows, int sentences, int beam) {
    auto* of = static_cast<State*>(state);
    return attempt([&] {
        std::vector<int> sentence_of, firsts;  // of each old row: its sentence; of each old sentence: its first row
        for (int row = 0; row < of->rows(); row = firsts.back() + of->rows(static_cast<int>(firsts.size()) - 1)) {
            firsts.push_back(row);
            sentence_of.insert(sentence_of.end(), of->rows(static_cast<int>(firsts.size()) - 1), firsts.size() - 1);
        }
        std::vector<int32_t> staying, parents(beam);
        for (int b = 0; b < sentences; b++, rows += beam) {
            staying.push_back(sentence_of[rows[0]]);
            for (int w = 0; w < beam; w++) parents[w] = static_cast<int32_t>(rows[w] - firsts[staying.back()]);
            of->reorder(staying.back(), parents.data(), beam);
        }
        of->keep(staying.data(), sentences);
    });
}

void dragoman_state_free(void* state) { delete static_cast<State*>(state); }

// --- the session, which searches by itself

void* dragoman_session(const void* model, int32_t start, int32_t end, const int32_t* banned, int count) {
    Session* session = nullptr;
    const Model& of = *static_cast<const Model*>(model);
    attempt([&] {
        session = new Session(of, std::unique_ptr<State>(new_state(of)), {start, end, {banned, banned + count}});
    });
    return session;
}

int dragoman_session_add(void* session, const int64_t* names, const int64_t* sources, const int32_t* lengths,
                         const Options* options, int count) {
    return attempt([&] { static_cast<Session*>(session)->add(names, sources, lengths, options, count); });
}

int dragoman_session_rows(const void* session) { return static_cast<const Session*>(session)->rows(); }

// The number of answers that can be taken, or −1 where memory ran out.
int dragoman_session_advance(void* session, int steps) {
    int answers = 0;
    return attempt([&] { answers = static_cast<Session*>(session)->advance(steps); }) ? -1 : answers;
}

void dragoman_session_drop(void* session, int64_t name) { static_cast<Session*>(session)->drop(name); }

// The next answer, its name and its number of hypotheses; null when there is none.
const void* dragoman_session_take(void* session, int64_t* name, int* hypotheses) {
    const Answer* answer = static_cast<Session*>(session)->take();
    if (answer) *name = answer->name, *hypotheses = static_cast<int>(answer->hypotheses.size());
    return answer;
}

// Hypothesis number `place` of an answer: its ids and their scores stay valid as long as the answer does.
void dragoman_hypothesis(const void* answer, int place, const int32_t** ids, int* length, const float** id_scores,
                         int* scored, float* score, int* truncated) {
    const Hypothesis& one = static_cast<const Answer*>(answer)->hypotheses[place];
    *ids = one.ids.data(), *length = static_cast<int>(one.ids.size());
    *id_scores = one.id_scores.data(), *scored = static_cast<int>(one.id_scores.size());
    *score = one.score, *truncated = one.truncated;
}

void dragoman_session_free(void* session) { delete static_cast<Session*>(session); }
}
