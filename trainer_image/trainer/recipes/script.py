"""`script`: runs a team's own command. docs/own-code.md is the contract."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

import psutil

from jobs.data.archive import is_archive
from jobs.logs import Masked, lines_that_matter
from jobs.problem import Problem
from trainer_image.trainer.checkpoints import Checkpoints
from trainer_image.trainer.data.store import open_archive, unpack
from trainer_image.trainer.exit_codes import DONE, FAILED, OUT_OF_MEMORY, YIELDED
from trainer_image.trainer.own_code import code, outputs, secrets, snapshot
from trainer_image.trainer.own_code.progress_lines import ProgressLines, Seen
from trainer_image.trainer.setting import Refused, Setting

LOOK_EVERY_S = 0.5
LEAVE_S = float(os.environ.get("PADDOCK_LEAVE_S", "90"))
"""How long the command may take to save and end once it was told; the instance has two minutes."""
LINES_KEPT = 400
SHELL_SIGNAL = 128
"""A shell gives 128 and the signal's number for a command that a signal ended (POSIX, "Exit Status for Commands")."""
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
             "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
             "PIP_INDEX_URL", "SSL_CERT_FILE")  # fmt: skip
"""Of the trainer's environment. Nothing of AWS: own code has no more rights than a recipe."""
NOT_WORKERS = ("paddle.distributed.launch", "torchrun", "torch.distributed", "accelerate")


def run(setting: Setting) -> int:
    """The exit code of the attempt. Raises Refused for code, requirements or secrets that cannot be had."""
    root = setting.scratch / "own"
    places = {name: root / name for name in ("code", "data", "checkpoints", "output", "packages", "home")}
    for place in places.values():
        place.mkdir(parents=True)
    version = code.bring(setting, places["code"])
    known_secrets = secrets.read(setting)
    code.install(setting.params["requirements"], places["code"], places["packages"])
    _bring_data(setting, places["data"])
    spec = setting.spec
    own = Checkpoints(setting.storage, spec.checkpoints, setting.scratch, snapshot.write, snapshot.read)
    saved = snapshot.Snapshots(places["checkpoints"], own, setting.reporter)
    step = saved.restore()
    if step is None and spec.resume_from:
        earlier = Checkpoints(setting.storage, spec.resume_from, setting.scratch, snapshot.write, snapshot.read)
        step = snapshot.Snapshots(places["checkpoints"], earlier, setting.reporter).restore()
        if step is None:
            raise Refused(Problem(code="checkpoint_gone", facts={"job": spec.resume_from.split("/")[1]}))
        saved = snapshot.Snapshots(places["checkpoints"], own, setting.reporter)
    setting.reporter.started(resumed_step=step or 0, device=_device(), code=version)
    user = os.environ.get("PADDOCK_SCRIPT_USER") if os.geteuid() == 0 else None
    if user is not None:
        _give(setting.scratch, root, user)
    command = _Command(setting, user, places, known_secrets, step is not None)
    ended = command.follow(saved)
    saved.look(command.step, command.epoch, now=True)
    saved.wait()
    if ended == 0:
        command.say_last()
        left = outputs.store(setting, places["output"], command.step, version)
        setting.reporter.finished(command.step, command.metrics, setting.storage, left)
        return DONE
    if setting.told() or ended == YIELDED:
        setting.reporter.yielded(command.step)
        return YIELDED
    reason = "out of memory" if ended == OUT_OF_MEMORY else f"exit code {ended}" if ended > 0 else f"signal {-ended}"
    detail = "\n".join(lines_that_matter(command.lines))
    setting.reporter.failed(reason, detail, final=ended > 0 and ended != OUT_OF_MEMORY)
    return OUT_OF_MEMORY if ended == OUT_OF_MEMORY else FAILED


class _Command:
    """The team's command, while it runs."""

    def __init__(
        self, setting: Setting, user: str | None, places: dict[str, Path], known_secrets: dict[str, str], resumes: bool
    ) -> None:
        self._setting, self._reads = setting, ProgressLines()
        self._stop = setting.scratch / "own" / "stop"
        self._mask = Masked(tuple(known_secrets.values()))
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        self.metrics: dict[str, float] = {}
        self._seen = Seen()
        env = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | known_secrets
        env |= {
            "HOME": str(places["home"]), "PYTHONUNBUFFERED": "1", "PADDOCK_JOB": setting.spec.job,
            "PADDOCK_ATTEMPT": str(setting.spec.attempt), "PADDOCK_DATA": str(places["data"]),
            "PADDOCK_CHECKPOINTS": str(places["checkpoints"]), "PADDOCK_OUTPUT": str(places["output"]),
            "PADDOCK_RESUME": "1" if resumes else "", "PADDOCK_STOP": str(self._stop),
            "PYTHONPATH": f"{places['packages']}:{places['code']}",
        }  # fmt: skip
        env["PATH"] = f"{Path(sys.executable).parent}:{env.get('PATH', '/usr/bin:/bin')}"
        self._process = subprocess.Popen(
            ["sh", "-c", str(setting.params["run"])], cwd=places["code"], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, user=user,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def step(self) -> int:
        return self._seen.step or 0

    @property
    def epoch(self) -> int:
        return self._seen.epoch or 0

    def follow(self, saved: snapshot.Snapshots) -> int:
        """Its exit code (negative: the signal that ended it). Told to leave, it has 90 s; then it is ended."""
        deadline: float | None = None
        while self._process.poll() is None:
            saved.look(self.step, self.epoch)
            if self._setting.told() and deadline is None:
                deadline = time.monotonic() + LEAVE_S
                self._tell()
            if deadline is not None and time.monotonic() > deadline:
                break
            time.sleep(LOOK_EVERY_S)
        _end_group(self._process.pid)
        ended = self._process.wait()
        self._reader.join(LOOK_EVERY_S * 10)
        return SHELL_SIGNAL - ended if ended > SHELL_SIGNAL else ended

    def _tell(self) -> None:
        """A file that the code may look for at each step, and SIGTERM to the processes that train. Launchers are left
        alone: told to end, they end their workers before these can save (FACTS: it exits with 15 at once)."""
        self._stop.touch()
        try:
            family = psutil.Process(self._process.pid).children(recursive=True)
        except psutil.Error:
            family = []
        leader = psutil.Process(self._process.pid)
        for process in [leader, *family]:
            try:
                words = process.cmdline()
                if process is leader and family and words[:2] == ["sh", "-c"]:
                    continue
                if not any(name in " ".join(words) for name in NOT_WORKERS):
                    process.send_signal(signal.SIGTERM)
            except (psutil.Error, OSError):
                continue

    def _read(self) -> None:
        """Every line goes to the log, secrets masked; progress goes to the card."""
        assert self._process.stdout is not None
        for raw in self._process.stdout:
            line = self._mask(raw.decode(errors="replace").rstrip("\r\n"))
            print(line, flush=True)
            self.lines.append(line)
            seen = self._reads.read(line)
            if seen is not None:
                self._progress(seen)

    def say_last(self) -> None:
        """Where it ended: reports on the way are throttled."""
        if self._seen.step is not None:
            self._progress(self._seen, force=True)

    def _progress(self, seen: Seen, force: bool = False) -> None:
        kept = {name: value for name, value in seen._asdict().items() if value is not None}
        self._seen = self._seen._replace(**kept)
        self.metrics |= seen.metrics
        now = self._seen
        self._setting.reporter.progress(
            force=force or bool(seen.metrics), step=now.step or 0, steps=now.steps or 0, epoch=now.epoch or 0,
            epochs=now.epochs or 0, loss=seen.loss, metrics=seen.metrics, samples_per_s=seen.samples_per_s,
        )  # fmt: skip


def _give(scratch: Path, root: Path, user: str) -> None:
    """The command's own folders are its user's; nothing else of the trainer's is."""
    scratch.chmod(0o711)
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            shutil.chown(path, user)


def _bring_data(setting: Setting, folder: Path) -> None:
    """An archive's files, or the one file."""
    fetched = setting.fetched("data")
    if fetched is None:
        return
    if not is_archive(fetched.path.name):
        (folder / fetched.ref.file).symlink_to(fetched.path)
        return
    unpack(open_archive(fetched), folder)


def _device() -> str:
    """Without Paddle, which takes seconds to import: what the machine says."""
    found = sorted(Path("/proc/driver/nvidia/gpus").glob("*")) if Path("/proc/driver/nvidia/gpus").is_dir() else []
    return f"{len(found)} GPU" if found else "CPU"


def _end_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
