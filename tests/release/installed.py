"""The built distributions as an index and its users get them: the second part of `make release`.

    python -m tests.release.installed [DIRECTORY]

Checks the distributions in DIRECTORY (default: dist) with twine, installs the wheel into a new
environment, and runs the first example of the README from an empty directory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.release.distributions import ROOT, checksums
from tests.release.environments import new_environment

#: Twine is only needed here, so it is not part of the environment.
TWINE = (sys.executable, "-m", "uv", "--quiet", "tool", "run", "twine", "check", "--strict")
#: Runs the first example of a page in Markdown.
EXAMPLE = """
import doctest, sys
text = open(sys.argv[1], encoding="utf-8").read().split("```python\\n")[1].split("```")[0]
test = doctest.DocTestParser().get_doctest(text, {}, "README.md", None, None)
sys.exit(doctest.DocTestRunner(verbose=False).run(test).failed)
"""


def main() -> None:
    """Check, install and run; exit with a message where anything fails."""
    built = Path(*sys.argv[1:2]) if sys.argv[1:] else ROOT / "dist"
    files = [built / name for name in checksums(built)]
    subprocess.run([*TWINE, *map(str, files)], check=True)
    (wheel,) = (file for file in files if file.suffix == ".whl")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with new_environment(folder / "new", str(wheel.resolve())) as environment:
            empty = folder / "empty"
            empty.mkdir()
            command = [str(environment.python), "-c", EXAMPLE, str(ROOT / "README.md")]
            done = environment.run(command, empty)
    if done.returncode:
        sys.exit(f"the first example of the README failed:\n{done.stdout}{done.stderr}")
    print(f"checked by twine, installed, and the README's first example runs: {wheel.name}")


if __name__ == "__main__":
    main()
