"""What runs on the instance, inside the container: Paddle."""
