"""A team's own code under Paddock's budget, checkpoints and card: the recipe `script`. Its contract:
docs/own-code.md."""
