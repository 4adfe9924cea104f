"""Muon and Adam: what an update does to a matrix, and which weights learn by which."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from model.config import preset
from model.transformer import Transformer
from tests.training.processes import together
from training.optimiser import LIKE_ADAM, Optimiser, orthogonalised
from training.recipes import Recipe, recipe_named
from training.world import World

ALONE = World()


def recipe(weight_decay: float = 0.0) -> Recipe:
    model = preset("tiny", vocabulary_size=50)
    return replace(recipe_named("tiny"), model=model, optimiser="muon", weight_decay=weight_decay)


def weight_of(model: Transformer, name: str) -> Tensor:
    return dict(model.named_parameters())[name]


def model_with_gradients(one: Recipe) -> Transformer:
    torch.manual_seed(3)
    model = Transformer(one.model)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 16, 40), (2, 40, 16)])
def test_orthogonalising_keeps_the_singular_vectors_and_evens_the_values(shape: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    blocks = torch.randn(shape, dtype=torch.float64)
    result = orthogonalised(blocks)
    left, _, right = torch.linalg.svd(blocks, full_matrices=False)
    in_their_basis = left.mT @ result @ right.mT
    values = in_their_basis.diagonal(dim1=1, dim2=2)
    assert values.min() > 0.6 and values.max() < 1.3
    torch.testing.assert_close(in_their_basis, torch.diag_embed(values), atol=1e-9, rtol=0)


def test_a_matrix_is_updated_alike_alone_and_in_a_stack() -> None:
    torch.manual_seed(1)
    blocks = torch.randn(4, 16, 24, dtype=torch.float64)
    alone = torch.cat([orthogonalised(block[None]) for block in blocks])
    torch.testing.assert_close(orthogonalised(blocks), alone, atol=1e-12, rtol=0)


def orthogonalise_together(world: World) -> None:
    torch.manual_seed(1)
    for shape in [(7, 32, 32), (1, 16, 40), (2, 40, 16)]:
        blocks = torch.randn(shape)
        torch.testing.assert_close(
            world.divide(orthogonalised, blocks), orthogonalised(blocks), rtol=0, atol=1e-6
        )


def test_processes_that_share_the_matrices_get_the_results_of_one() -> None:
    together(orthogonalise_together)


def test_queries_keys_and_values_are_updated_as_three_matrices() -> None:
    one = recipe()
    model = model_with_gradients(one)
    weight = weight_of(model, "encoder.0.attention.queries_keys_values.weight")
    assert weight.grad is not None
    before, gradient = weight.detach().clone(), weight.grad.clone()
    Optimiser(model, one, ALONE).step(0.01)
    width = one.model.width
    for rows in range(0, 3 * width, width):
        wanted = 0.01 * LIKE_ADAM * width**0.5 * orthogonalised(gradient[None, rows : rows + width])[0]
        moved = before[rows : rows + width] - weight.detach()[rows : rows + width]
        torch.testing.assert_close(moved, wanted, atol=1e-5, rtol=1e-3)


def test_an_update_of_muon_is_as_large_as_one_of_adam() -> None:
    sizes: dict[str, list[Tensor]] = {}
    for kind in ("muon", "adam"):
        one = replace(recipe(), optimiser=kind)
        model = model_with_gradients(one)
        before = [parameter.detach().clone() for parameter in model.parameters()]
        Optimiser(model, one, ALONE).step(0.01)
        moved = [old - new.detach() for old, new in zip(before, model.parameters(), strict=True)]
        sizes[kind] = [change.square().mean().sqrt() for change in moved if change.dim() == 2]
    for muon, adam in zip(sizes["muon"], sizes["adam"], strict=True):
        assert 0.1 < float(muon / adam) < 1.1  # a first update of Adam's moves every number by the whole rate


def test_tables_norms_and_biases_learn_by_adam_and_all_else_by_muon() -> None:
    one = recipe()
    model = Transformer(one.model)
    by_muon = {
        name
        for name, parameter in model.named_parameters()
        if parameter in Optimiser(model, one, ALONE).matrices
    }
    by_adam = {name for name, _ in model.named_parameters()} - by_muon
    assert by_muon and all(name.endswith("weight") for name in by_muon)
    assert all("output_VD" in name or "norm" in name or name.endswith("bias") for name in by_adam)


def test_weight_decay_shrinks_the_matrices_before_the_update() -> None:
    moved = {}
    for decay in (0.0, 0.1):
        one = recipe(weight_decay=decay)
        model = model_with_gradients(one)
        weight = weight_of(model, "decoder.0.feed_forward.up.weight")
        before = weight.detach().clone()
        Optimiser(model, one, ALONE).step(0.01)
        moved[decay] = weight.detach().clone()
    torch.testing.assert_close(moved[0.0] - moved[0.1], 0.01 * 0.1 * before, atol=1e-7, rtol=1e-4)


@pytest.mark.parametrize("kind", ["muon", "adam"])
def test_an_optimiser_that_was_restored_goes_on_alike(kind: str) -> None:
    one = replace(recipe(), optimiser=kind)
    first = model_with_gradients(one)
    optimiser = Optimiser(first, one, ALONE)
    optimiser.step(0.01)
    second = model_with_gradients(one)
    second.load_state_dict(first.state_dict())
    other = Optimiser(second, one, ALONE)
    other.restore({name: value.clone() for name, value in optimiser.state().items()})
    optimiser.step(0.02)
    other.step(0.02)
    for left, right in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(left, right)


def test_an_unknown_optimiser_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"optimiser is 'sgd'.*'muon', 'adam'"):
        replace(recipe(), optimiser="sgd")


def test_a_bias_that_the_loss_would_not_train_is_refused() -> None:
    one = recipe()
    with pytest.raises(ValueError, match=r"output_bias is 'learned'.*'none'"):
        replace(one, model=replace(one.model, output_bias="learned"))
