"""`make simulate JOBS=10000 SEED=7`: prints one line of JSON; exits 1, with the story of a world, when one fails."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict

from tests.simulation.chance import Switches
from tests.simulation.story import fails, tell
from tests.simulation.verdict import Outcome, judge
from tests.simulation.world import World

RUNS_PER_WORLD = 20


def play(seed: int) -> tuple[int, Outcome]:
    """One world."""
    world = World(seed, RUNS_PER_WORLD)
    world.run()
    return seed, judge(world)


def worlds(jobs: int, seed: int) -> list[int]:
    """The seeds of the worlds that `jobs` runs need."""
    return [seed * 1_000_003 + number for number in range(-(-jobs // RUNS_PER_WORLD))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulate")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--world", type=int, help="play one world again")
    parser.add_argument("--runs", type=int, default=RUNS_PER_WORLD)
    parser.add_argument("--without", default="", help="kinds of faults to leave out")
    asked = parser.parse_args()
    if asked.world is not None:
        silenced = tuple(kind for kind in asked.without.split(",") if kind)
        wrong = fails(asked.world, asked.runs, silenced, Switches())
        print(tell(asked.world, asked.runs) if wrong else f"world {asked.world}: all is well")
        return 1 if wrong else 0
    began = time.monotonic()
    total, failing = Outcome(), []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for seed, outcome in pool.map(play, worlds(asked.jobs, asked.seed), chunksize=4):
            total.add(outcome)
            if outcome.faults():
                failing.append(seed)
    print(json.dumps(asdict(total) | {"wall_s": round(time.monotonic() - began, 1)}))
    if failing:
        print(f"{len(failing)} worlds failed.\n{tell(failing[0], RUNS_PER_WORLD)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
