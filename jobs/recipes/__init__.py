"""The recipes that can be trained: every module of this folder, by its recipe's name. A new file here, and one of the
same name in trainer_image/trainer/recipes/, is a new recipe."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from jobs.recipe import Recipe

DEFAULT = "ernie-cls"
"""Listed first, and shown in examples."""


def _found() -> dict[str, Recipe]:
    modules = [import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    recipes: list[Recipe] = [module.RECIPE for module in modules]
    return {recipe.name: recipe for recipe in sorted(recipes, key=lambda r: (r.name != DEFAULT, r.name))}


RECIPES = _found()
