"""The trainer's image: Dockerfile, what the host runs, what the container runs."""
