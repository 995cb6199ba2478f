"""Other Pythons than that of .venv: an environment for each, from the same requirements.txt."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
ABOUT = "import platform, sys; print(platform.python_version(), sys.executable)"


def about(python: str) -> str | None:
    """Version and place of a Python; None if this machine has none of that name, "" if it fails."""
    try:
        run = subprocess.run(
            [python, "-c", ABOUT], capture_output=True, encoding="utf-8", check=False
        )
    except (FileNotFoundError, PermissionError):
        return None
    if run.returncode == 127:  # pyenv has a stand-in for each Python, also where it serves none
        return None
    return run.stdout.strip() if run.returncode == 0 else ""


def folder(version: str, root: Path = ROOT) -> Path:
    """Where the environment of a version is: 3.12.1 and 3.12.7 share .venv-3.12."""
    return root / f".venv-{'.'.join(version.split('.')[:2])}"


def set_up(python: str, root: Path = ROOT) -> Path:
    """The environment of another Python, made anew when it, the folder or a requirement changed."""
    here = about(python)
    if not here:
        raise SystemExit(f"{python} does not run")
    target = folder(here, root)
    wanted = b"".join((root / name).read_bytes() for name in ("requirements.txt", "pyproject.toml"))
    made_of = f"{root}\n{here}\n{sha256(wanted).hexdigest()}\n"
    ready = target / ".ready"
    if not (ready.is_file() and ready.read_text(encoding="utf-8") == made_of):
        subprocess.run([python, "-m", "venv", "--clear", target], check=True)
        install = [target / "bin" / "python", "-m", "pip", "install", "-q"]
        subprocess.run([*install, "-r", "requirements.txt", "-e", "."], cwd=root, check=True)
        ready.write_text(made_of, encoding="utf-8")
    return target


if __name__ == "__main__":
    print(set_up(sys.argv[1]))
