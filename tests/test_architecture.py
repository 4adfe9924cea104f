"""docs/ARCHITECTURE.md is true of the code, and importing the code does nothing else."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARCHITECTURE = ROOT / "docs" / "ARCHITECTURE.md"
README = ROOT / "README.md"
ROOMS = ("tokenizer", "model", "training", "service")
EXCHANGE = "model.exchange"
PACKAGES = (*ROOMS, EXCHANGE)  # those with a row in the table; what is below the last is not of "model"
MAY_OPEN_THE_EXCHANGE = {"model/export.py", "model/import_opus_mt.py", "model/inspect.py"}
LONGEST_FILE = 300
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
# What runs code that somebody else put into a file.
UNPICKLERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


@dataclass(frozen=True)
class Rule:
    """A row of the table: what a package may import."""

    ours: frozenset[str]
    third_party: frozenset[str]


def rules(document: str) -> dict[str, Rule]:
    """The table of imports as the document has it: package | may import of ours | third party."""
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]+) \| ([^|]+) \|$", document, flags=re.MULTILINE)
    return {
        package: Rule(frozenset(re.findall(r"`(\w+)`", ours)), frozenset(re.findall(r"\w+", third_party)))
        for package, ours, third_party in rows
    }


RULES = rules(ARCHITECTURE.read_text(encoding="utf-8"))
MODULES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def package_of(path: Path) -> str:
    """The row of the table that a module belongs to."""
    folder = ".".join(path.relative_to(ROOT).parent.parts)
    return max((package for package in PACKAGES if f"{folder}.".startswith(f"{package}.")), key=len)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def each_module() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", MODULES, ids=name_of)


def imported_modules(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that is imported anywhere, in functions and under conditions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module if node.module and not node.level else package
        elif isinstance(node, ast.Call) and called(node).endswith(("import_module", "__import__")):
            name = node.args[0] if node.args else None
            known = isinstance(name, ast.Constant) and isinstance(name.value, str)
            yield node.lineno, name.value if known else "a name that is not written out"  # type: ignore[union-attr]


def called(node: ast.Call) -> str:
    """`torch.load` of `torch.load(path)`."""
    return ast.unparse(node.func)


def violations(source: str, package: str) -> list[str]:
    """What a module of `package` does against the table and against rule 10: nothing is ever unpickled."""
    tree = ast.parse(source)
    rule = RULES[package]
    allowed = rule.ours | rule.third_party | {package} | sys.stdlib_module_names - UNPICKLERS
    found = [
        f"line {line}: imports {name}, which {package} may not"
        for line, name in imported_modules(tree, package)
        if name.partition(".")[0] not in allowed
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "torch" and "load" in names_in(node):
            found.append(f"line {node.lineno}: call it torch.load, so that the call can be recognised")
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if called(node) == "torch.load" and given.get("weights_only") != "True":
            found.append(f"line {node.lineno}: torch.load without weights_only=True")
        if given.get("weights_only", "True") != "True" or given.get("allow_pickle", "False") != "False":
            found.append(f"line {node.lineno}: {called(node)} is let unpickle")
    return found


def names_in(node: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in node.names}


def test_the_table_has_a_row_for_every_package() -> None:
    assert set(RULES) == set(PACKAGES)
    assert all(rule.third_party for rule in RULES.values())
    assert all(rule.ours <= set(PACKAGES) for rule in RULES.values())


def test_every_package_has_modules() -> None:
    assert {package_of(path) for path in MODULES} == set(PACKAGES)


@each_module()
def test_module_keeps_to_the_table_and_unpickles_nothing(path: Path) -> None:
    assert violations(path.read_text(encoding="utf-8"), package_of(path)) == []


@each_module()
def test_only_its_commands_open_the_exchange(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    opens = any(name.startswith(EXCHANGE) for _, name in imported_modules(tree, package_of(path)))
    assert not opens or package_of(path) == EXCHANGE or name_of(path) in MAY_OPEN_THE_EXCHANGE


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("tokenizer", "import torch"),
        ("tokenizer", "def f():\n    from model.translator import Translator"),
        ("model", "if TYPE_CHECKING:\n    import service.app"),
        ("model", "import fastapi.responses as r"),
        ("service", "from training import train"),
        ("service", "importlib.import_module('training.train')"),
        ("service", "importlib.import_module(name)"),
        ("training", "import pickle"),
        ("training", "from pickle import loads"),
        ("training", "torch.load(path)"),
        ("training", "torch.load(path, weights_only=False)"),
        ("training", "torch.load(path, weights_only=flag)"),
        ("training", "from torch import load"),
        ("training", "read(path, weights_only=False)"),
        ("training", "numpy.load(path, allow_pickle=True)"),
    ],
)
def test_a_violation_is_found(package: str, source: str) -> None:
    assert len(violations(source, package)) >= 1


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("tokenizer", "import json\nimport sentencepiece\nfrom tokenizer.normalise import normalise"),
        ("model", "import torch.nn.functional as F\nfrom . import state"),
        ("training", "torch.load(path, weights_only=True)"),
        ("service", "from model.translator import Translator"),
    ],
)
def test_what_is_allowed_is_no_violation(package: str, source: str) -> None:
    assert violations(source, package) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_import_is_locked_and_the_container_has_all_that_serving_imports(package: str) -> None:
    skip_without_its_extra(package)
    available = locked("torch", "serve", *LOCKS_BEYOND_SERVING.get(package, ()))
    for name in third_party_imports(package):
        (distribution,) = set(packages_distributions()[name.partition(".")[0]])
        assert distribution.lower().replace("_", "-") in available, name


LOCKS_BEYOND_SERVING = {"training": ("dev",), EXCHANGE: ("exchange",)}


def skip_without_its_extra(package: str) -> None:
    """Engines that models are exported to are installed by those who export."""
    imported = {name.partition(".")[0] for name in third_party_imports(package)}
    if package == EXCHANGE and not all(map(find_spec, imported)):
        pytest.skip("needs what `make install-exchange` installs")


def locked(*names: str) -> set[str]:
    """The distributions that the locks of these names hold."""
    locks = [(ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8") for name in names]
    return {name for lock in locks for name in re.findall(r"^([a-z0-9._-]+)==", lock, flags=re.MULTILINE)}


@each_module()
def test_module_is_named_for_what_it_holds(path: Path) -> None:
    names = {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}
    assert names & FORBIDDEN_NAMES == set()


@each_module()
def test_module_is_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


# Runs in a process of its own: imports what it is told to, and reports what else happened. The audit hook
# sees every file that is opened to be written, every process and every connection, wherever it is.
PROBE = """
import json, logging, os, sys, threading, warnings

warnings.simplefilter("error")
done = []

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes and path != os.devnull:
            done.append(f"opened {path} to write")
    elif event in ("os.mkdir", "os.remove", "os.rename", "subprocess.Popen", "os.system", "socket.connect"):
        done.append(f"{event} {arguments[0]}")

OURS = ("tokenizer", "model", "training", "service")
third_party, ours = json.loads(sys.argv[1])
for name in third_party:
    __import__(name)
loggers = set(logging.root.manager.loggerDict)
before = dict(os.environ)
handlers, level = list(logging.root.handlers), logging.root.level
filters = list(warnings.filters)
threads = threading.active_count()
sys.addaudithook(watch)

for name in ours:
    __import__(name)

if threading.active_count() != threads:
    done.append(f"started threads: {threading.enumerate()}")
if (logging.root.handlers, logging.root.level) != (handlers, level) or logging.root.manager.disable:
    done.append("configured the root logger")
for name, logger in logging.root.manager.loggerDict.items():
    if name.partition(".")[0] in OURS and isinstance(logger, logging.Logger):
        if logger.handlers or logger.level:
            done.append(f"configured the logger {name}")
if os.environ != before:
    done.append("changed the environment")
torch = sys.modules.get("torch")
if torch and torch.cuda.is_initialized():
    done.append("initialised CUDA")
print(json.dumps(done))
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_does_nothing_else(package: str, tmp_path: Path) -> None:
    """No file, no process, no connection, no thread, no logging, no device, no environment.

    What third parties do at their own import is theirs, so those come first and are not watched.
    """
    skip_without_its_extra(package)
    modules = [module_name(path) for path in MODULES if package_of(path) == package]
    third_party = sorted(third_party_imports(package))
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
    }
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps([third_party, modules])],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert probe.returncode == 0, probe.stderr
    assert json.loads(probe.stdout) == []
    assert list(tmp_path.iterdir()) == []


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def third_party_imports(package: str) -> set[str]:
    """Full names of the foreign modules that a package and those below it import."""
    ours = RULES[package].ours | {package}
    return {
        name
        for path in MODULES
        if package_of(path) in ours
        for _, name in imported_modules(ast.parse(path.read_text(encoding="utf-8")), package)
        if name.partition(".")[0] not in {*ROOMS, *sys.stdlib_module_names}
    }


needs_readme = pytest.mark.skipif(not README.exists(), reason="README.md does not exist")


def paths_in_tree(document: str) -> set[str]:
    """The paths of the first code block that draws this repository: one file or folder a line, then a phrase.

    Folders end in a slash; what they hold is indented below them, with or without lines drawn between.
    """
    for block in re.findall(r"^```\w*\n(.*?)^```", document, flags=re.MULTILINE | re.DOTALL):
        paths = paths_in_block(block)
        if {f"{room}/" for room in ROOMS} <= paths:
            return paths
    return set()


def paths_in_block(block: str) -> set[str]:
    paths: set[str] = set()
    open_folders: list[tuple[int, str]] = []
    for line in block.splitlines():
        entry = re.match(r"[\s│├└─|`+-]*", line)
        assert entry is not None
        depth, words = entry.end(), line[entry.end() :].split()
        if not words:
            continue
        while open_folders and open_folders[-1][0] >= depth:
            open_folders.pop()
        path = (open_folders[-1][1] if open_folders else "") + words[0]
        paths.add(path)
        if path.endswith("/"):
            open_folders.append((depth, path))
    return paths


@needs_readme
def test_the_readme_draws_the_tree() -> None:
    assert paths_in_tree(README.read_text(encoding="utf-8")) != set()


@needs_readme
def test_what_the_readme_names_exists() -> None:
    named = paths_in_tree(README.read_text(encoding="utf-8"))
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


@needs_readme
def test_the_readme_names_every_module() -> None:
    named = paths_in_tree(README.read_text(encoding="utf-8"))
    modules = {name_of(path) for path in MODULES if path.name != "__init__.py"}
    assert sorted(modules - named) == []


def test_a_tree_is_read_with_lines_and_without() -> None:
    plain = "service/      the door\n  app.py      assembles\n  text/\n    words.py  more\nmodel/   it\n  a.py  b\n"
    drawn = (
        "├── service/      the door\n│   ├── app.py    assembles\n│   └── text/\n│       └── words.py  more\n"
        "└── model/  it\n    └── a.py  b\n"
    )
    expected = {
        "service/",
        "service/app.py",
        "service/text/",
        "service/text/words.py",
        "model/",
        "model/a.py",
    }
    assert paths_in_block(plain) == paths_in_block(drawn) == expected
