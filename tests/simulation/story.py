"""A failing world, made small: the fewest kinds of faults and the fewest runs that still fail, and what happened."""

from __future__ import annotations

from dataclasses import replace

from tests.simulation.chance import KINDS, Likelihoods, Switches
from tests.simulation.verdict import judge
from tests.simulation.world import World

LONGEST = 400


def fails(seed: int, jobs: int, silenced: tuple[str, ...], switches: Switches) -> dict[str, float]:
    """What is wrong with this world, without the silenced kinds of faults."""
    likelihoods = replace(Likelihoods(), **dict.fromkeys(silenced, 0.0))
    world = World(seed, jobs, switches=switches, likelihoods=likelihoods)
    world.run()
    return judge(world).faults()


def shrink(seed: int, jobs: int, switches: Switches) -> tuple[int, tuple[str, ...]]:
    """Fewer runs, then fewer kinds of faults, as long as it still fails."""
    for fewer in (1, 2, 4, 8, 12):
        if fewer < jobs and fails(seed, fewer, (), switches):
            jobs = fewer
            break
    silenced: tuple[str, ...] = ()
    for kind in KINDS:
        if fails(seed, jobs, (*silenced, kind), switches):
            silenced = (*silenced, kind)
    return jobs, silenced


def tell(seed: int, jobs: int, switches: Switches | None = None) -> str:
    """The story of a failing world, with the command that plays it again."""
    switches = switches or Switches()
    jobs, silenced = shrink(seed, jobs, switches)
    likelihoods = replace(Likelihoods(), **dict.fromkeys(silenced, 0.0))
    story: list[str] = []
    world = World(seed, jobs, switches=switches, likelihoods=likelihoods, story=story)
    world.run()
    wrong = judge(world).faults()
    replay = f".paddock/env/bin/python -m tests.simulation --world {seed} --runs {jobs}"
    if silenced:
        replay += f" --without {','.join(silenced)}"
    shown = story if len(story) <= LONGEST else [*story[: LONGEST // 2], "…", *story[-LONGEST // 2 :]]
    return "\n".join([f"world {seed} with {jobs} runs: {wrong}", *shown, f"again: {replay}"])
