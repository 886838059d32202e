"""What the loop trains, one file per recipe, named like its sibling in jobs/recipes/. Each has `task(setting)`, which
gives a loop.Task that can be exported (export.Exportable), or `run(setting)`, which does all by itself."""
