"""Settings for all tests, and for the processes that they start."""

import os
import shutil
import tempfile

# Before numpy is imported: OpenBLAS would start a thread for each core, which takes as long as the rest of
# the import, and no test multiplies matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.support import settings  # noqa: F401 - importing it sets them

# Hundreds of processes import the package. If Python must not keep bytecode beside the sources, they compile
# once, into a folder that goes with the tests.
_BYTECODE = tempfile.mkdtemp(prefix="bytecode-") if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") else ""
if _BYTECODE:
    os.environ["PYTHONPYCACHEPREFIX"] = _BYTECODE


def pytest_unconfigure() -> None:
    if _BYTECODE:
        shutil.rmtree(_BYTECODE, ignore_errors=True)
