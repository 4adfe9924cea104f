"""Memory does not grow with the corpus: reading, cleaning and drawing the split hold numbers, not text."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = textwrap.dedent("""
    import sys
    from pathlib import Path
    from training.corpora.cleaning import CleaningReport, CleaningRules, clean
    from training.corpora.corpus import open_files
    from training.corpora.split import PairHashes, assign

    rules = CleaningRules(source_language="en", target_language="de")
    pairs = clean(open_files([Path(sys.argv[1])], "en", "de").read(), rules, CleaningReport())
    print(len(assign(PairHashes(pairs), validation=10, test=10, seed=0).sets))
    print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
""")


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc, as Linux has it"
)
@pytest.mark.slow
def test_a_million_lines_take_less_than_100_megabytes_more_than_ten_thousand(tmp_path):
    peaks = {}
    for count in (10_000, 1_000_000):
        path = tmp_path / f"{count}.tsv"
        with path.open("w", encoding="utf-8") as file:
            for number in range(count):
                file.write(
                    f"This is line {number} of a long text.\tDies ist Zeile {number} in einem langen Text.\n"
                )
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True
        )
        read, peaks[count] = map(int, result.stdout.split())
        assert read == count
    assert peaks[1_000_000] - peaks[10_000] < 100_000  # kilobytes
