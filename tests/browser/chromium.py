"""The browser and the Chinese font of the web page's tests: what is installed is used; else, as root on Debian, Debian's
packages; else Playwright's own download. `python -m tests.browser.chromium` brings them; exit code 1 if it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from local.places import HOME

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic", "--no-first-run",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
DOWNLOADS = HOME / "browsers"
APT = ["apt-get", "-y", "-q", "--no-install-recommends", "install"]
NO_BROWSER = (
    "no Chromium on this machine: `apt-get install chromium` (or your system's package), then `make test` again"
)
NO_FONT = "no Chinese font on this machine: `apt-get install fontconfig fonts-noto-cjk`, then `make test` again"


def browser() -> str | None:
    """The path of a Chromium that runs, or None."""
    found = [path for path in map(shutil.which, NAMES) if path]
    downloaded = sorted(str(path) for path in DOWNLOADS.glob("chromium*/chrome-*/*") if path.name.startswith("chrome"))
    return next(
        (path for path in [*found, *downloaded] if os.access(path, os.X_OK) and _runs([path, "--version"])), None
    )


def has_chinese_font() -> bool:
    """As fontconfig says; on other systems than Linux a Chinese font comes with the system."""
    if sys.platform != "linux":
        return True
    try:
        return bool(subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False).stdout.strip())
    except OSError:
        return False


def install() -> None:
    """Bring what is missing, in the ways that this machine allows."""
    debian = os.geteuid() == 0 and "ID=debian" in _words(Path("/etc/os-release"))
    packages = [] if browser() else ["chromium"]
    packages += [] if has_chinese_font() else ["fontconfig", "fonts-noto-cjk"]
    if packages and debian:
        print(f"Paddock: installing {', '.join(packages)} for the tests of the web page, once …", flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        _runs(["apt-get", "-q", "update"], quiet)
        _runs([*APT, *packages], quiet)
    if not browser():
        print("Paddock: downloading Chromium for the tests of the web page, once …", flush=True)
        where = {**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADS)}
        _runs([sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"], where)


def main() -> int:
    if browser() and has_chinese_font():
        return 0
    install()
    missing = [line for line, there in ((NO_BROWSER, browser()), (NO_FONT, has_chinese_font())) if not there]
    for line in missing:
        print(f"Paddock: some tests will be skipped: {line}", file=sys.stderr)
    return 1 if missing else 0


def _runs(command: list[str], env: dict[str, str] | None = None) -> bool:
    """Whether the command went through; nothing is printed."""
    try:
        return subprocess.run(command, env=env, capture_output=True, timeout=900, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _words(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


if __name__ == "__main__":
    sys.exit(main())
