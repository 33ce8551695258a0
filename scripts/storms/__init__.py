"""Trials that take minutes: a cluster whose parts are killed, a service soaked in too much, and one that is rebuilt."""
