"""Adapters: the table, the queues, EC2, prices, schedules. Nothing here decides anything."""
