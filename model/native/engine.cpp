// The functions that Python calls (model/native/library.py). Nothing here keeps a thread or a global.
#include <memory>

#include "state.hpp"

extern "C" {

int dragoman_has_int8() { return HAS_INT8; }

// tensors: as model/native/engine.py lists them. Tables are read where they are; matrices are packed, and copied so.
void* dragoman_model(const Shape* shape, const float* const* tensors) {
    try {
        return new Model(*shape, tensors);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void dragoman_model_free(void* model) { delete static_cast<Model*>(model); }

void* dragoman_start(const void* model, const int64_t* ids, const int32_t* lengths, int sentences) {
    const Model& of = *static_cast<const Model*>(model);
    try {
        if (static_cast<Precision>(of.shape.precision) == Precision::int8)
            return static_cast<State*>(new StateOf<Half>(of, ids, lengths, sentences));
        return static_cast<State*>(new StateOf<float>(of, ids, lengths, sentences));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

// 0, or 1 where memory ran out.
int dragoman_step(void* state, const int64_t* tokens, float* logits) {
    try {
        static_cast<State*>(state)->step(tokens, logits);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

int dragoman_rows(const void* state) { return static_cast<const State*>(state)->rows(); }

void dragoman_select(void* state, const int64_t* rows, int sentences, int beam) {
    static_cast<State*>(state)->select(rows, sentences, beam);
}

void dragoman_state_free(void* state) { delete static_cast<State*>(state); }
}
