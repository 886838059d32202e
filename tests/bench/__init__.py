"""Measurements, side by side with what they compete with. `make bench`"""
