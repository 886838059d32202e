"""The product on one machine: the emulated account, the stand-ins for EC2 and Slack, the command line."""
