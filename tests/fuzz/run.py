"""Coverage-guided fuzzing of one target, or of all in turn, with atheris: ``pip install atheris .``

``python tests/fuzz/run.py --seconds 60 scan`` runs for a minute. An input that fails is kept in the current
folder, and ``--repeat FILE`` runs it again. An input that takes over 20 seconds or 2 GB of memory fails.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # so that ``tests`` can be imported


def fuzz(target: str, arguments: list[str]) -> None:
    """Fuzz one target. Never returns, because libFuzzer ends the process."""
    import atheris  # noqa: PLC0415 - needed only here, in a process of its own

    with atheris.instrument_imports(include=["purerecord"]):
        from tests.fuzz import targets  # noqa: PLC0415

        for seed in targets.seeds(target):  # imports the modules that are loaded on first use
            targets.TARGETS[target](seed)

    atheris.Setup([sys.argv[0], *arguments], targets.TARGETS[target])
    atheris.Fuzz()


def main() -> int:
    """Run each target in a process of its own; return the exit code of the first one that fails."""
    from tests.fuzz import targets  # noqa: PLC0415 - the fuzzing process must import it instrumented

    names = list(targets.TARGETS)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"of {', '.join(names)}; all unless given"
    )
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together (60)")
    parser.add_argument("--corpus", type=Path, help="keep the inputs that were found in this folder")
    parser.add_argument("--repeat", type=Path, help="run a target with this input only")
    options = parser.parse_args()
    chosen = options.targets or names
    for target in chosen:
        with tempfile.TemporaryDirectory() as temporary:
            corpus = (options.corpus or Path(temporary)) / target
            corpus.mkdir(parents=True, exist_ok=True)
            for number, seed in enumerate(targets.seeds(target)):
                (corpus / f"seed-{number}").write_bytes(seed)
            command = [sys.executable, __file__, "--one", target]
            if options.repeat is not None:
                command.append(str(options.repeat))
            else:
                command.append(f"-max_total_time={max(1, options.seconds // len(chosen))}")
                command += ["-max_len=4096", "-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1"]
                command.append(str(corpus))
            done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = done.stdout.decode(errors="replace")
        if done.returncode:
            print(f"{said}\n{target}: FAILED", flush=True)
            return done.returncode
        runs = re.search(r"number_of_executed_units: *(\d+)", said)
        print(f"{target}: fine{f', {int(runs[1]):,} runs' if runs else ''}", flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        fuzz(sys.argv[2], sys.argv[3:])
    sys.exit(main())
