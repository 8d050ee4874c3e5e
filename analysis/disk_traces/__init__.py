"""Traces of other disk simulators, replayed on a device, and response times of their requests."""
