"""Installs an environment into .paddock/ from its hash-locked list, once. `python3 local/install.py paddock|trainer`

Standard library only: this runs before anything is installed."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = Path(os.environ.get("PADDOCK_HOME", ROOT / ".paddock"))
FITS = {"paddock": [(3, 13), (3, 12), (3, 11), (3, 14)], "trainer": [(3, 11), (3, 12)]}
FOLDER = {"paddock": "env", "trainer": "trainer"}
WHAT = {
    "paddock": "bot, functions and local stack (about 0.5 GB)",
    "trainer": "trainer: PaddlePaddle and PaddleNLP (about 1.6 GB)",
}
WHY = {
    "paddock": "Paddock's own code needs Python 3.11 or newer.",
    "trainer": "PaddleNLP's pins lead to numpy 1.26, which has no wheels for Python 3.13 and newer.",
}


def version_of(python: str) -> "tuple[int, int] | None":
    """(major, minor) of a Python that runs, or None."""
    try:
        command = [python, "-c", "import sys, venv; print(*sys.version_info[:2])"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.split()
        return int(found[0]), int(found[1])
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return None


def candidates() -> "dict[str, tuple[int, int]]":
    """The Pythons of this machine that run, with their versions: this one, those on PATH, also by version."""
    names = ["python3", "python", *(f"python3.{minor}" for minor in range(10, 16))]
    paths = [sys.executable, *(path for path in map(shutil.which, names) if path)]
    return {path: version for path in paths if (version := version_of(path))}


def choose(name: str, found: "dict[str, tuple[int, int]]") -> "str | None":
    """The Python for an environment, the preferred version first; None if none fits."""
    for wanted in FITS[name]:
        for path, version in found.items():
            if version == wanted:
                return path
    return None


def nothing_fits(name: str, found: "dict[str, tuple[int, int]]") -> str:
    """What to tell somebody whose machine has no fitting Python."""
    wanted = " or ".join(f"{a}.{b}" for a, b in sorted(FITS[name]))
    have = ", ".join(f"{a}.{b}" for a, b in sorted(set(found.values()))) or "none"
    return (
        f"Paddock: nothing was installed. The {name} environment needs Python {wanted}; this machine has {have}.\n"
        f"{WHY[name]} Install one of these beside yours (it is looked up as python3.X on PATH) and run make again."
    )


def run(command: "list[str]", watched: "Path | None" = None) -> None:
    """Run quietly, showing how far the folder `watched` has grown; or exit with the command's own words."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if env.get("PIP_INDEX_URL"):
        env.setdefault("UV_DEFAULT_INDEX", env["PIP_INDEX_URL"])
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    words = []
    reader = threading.Thread(target=lambda: words.append(process.communicate()[0]))
    reader.start()
    began = shown = time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        terminal = sys.stdout.isatty()
        if watched is not None and time.monotonic() - shown > (0.5 if terminal else 10):
            shown = time.monotonic()
            line = f"  {megabytes(watched):5d} MB, {shown - began:3.0f} s"
            print("\r" + line if terminal else line, end="" if terminal else "\n", flush=True)
    reader.join()
    if watched is not None and sys.stdout.isatty():
        print("\r" + " " * 30 + "\r", end="")
    if process.returncode:
        sys.stderr.write(b"".join(words).decode(errors="replace"))
        sys.exit(f"Paddock: set-up stopped at: {' '.join(command[:4])} …")


def megabytes(folder: Path) -> int:
    """The size of what is below a folder."""
    total = 0
    for path, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total // 1_000_000


def installer(python: str) -> str:
    """uv, itself installed by pip from a locked list."""
    folder = HOME / "bootstrap"
    uv = folder / "bin" / "uv"
    if not uv.exists():
        print("Paddock: preparing the installer …", flush=True)
        run([python, "-m", "venv", str(folder)])
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "bootstrap.txt")])
    return str(uv)


def main(name: str) -> None:
    """Do nothing if the environment already is what the list says."""
    lock = ROOT / "requirements" / f"{name}.txt"
    folder = HOME / FOLDER[name]
    stamp = folder / "installed-from"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and (folder / "bin" / "python").exists():
        return
    found = candidates()
    python = choose(name, found)
    if python is None:
        sys.exit(nothing_fits(name, found))
    HOME.mkdir(parents=True, exist_ok=True)
    uv = installer(python)
    began = time.monotonic()
    print(f"Paddock: installing the {WHAT[name]}, once …", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    run([uv, "venv", "-q", "--python", python, str(folder)])
    run([uv, "pip", "install", "-q", "--no-config", "--link-mode", "copy", "--compile-bytecode", "--python",
         str(folder / "bin" / "python"), "--require-hashes", "-r", str(lock)], watched=folder)  # fmt: skip
    stamp.write_text(wanted)
    print(f"Paddock: installed in {time.monotonic() - began:.0f} s.", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
