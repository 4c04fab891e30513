"""Compile the .proto files beside this one into purerecord/payload/_descriptors.py.

``pip install grpcio-tools`` first; then ``python proto/generate.py``.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = ("example.proto", "tensor.proto", "event.proto")
TARGET = HERE.parent / "purerecord" / "payload" / "_descriptors.py"
HEADER = '"""The compiled .proto files: made by proto/generate.py, not to be edited."""'


def compile_protos() -> bytes:
    """The .proto files as a serialized FileDescriptorSet."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "descriptors"
        # The compiler runs in a separate process: it crashes in one that has imported TensorFlow.
        compiler = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={HERE}"]
        subprocess.run([*compiler, f"--descriptor_set_out={output}", *FILES], check=True)
        return output.read_bytes()


def source(descriptors: bytes) -> str:
    """The text of the module that holds ``descriptors`` in base64."""
    text = base64.b64encode(descriptors).decode()
    literal = "\n".join(f'    "{text[k : k + 100]}"' for k in range(0, len(text), 100))
    return f"{HEADER}\n\nfrom __future__ import annotations\n\nFILE_DESCRIPTOR_SET = (\n{literal}\n)\n"


if __name__ == "__main__":
    TARGET.write_text(source(compile_protos()))
