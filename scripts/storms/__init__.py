"""Trials that take minutes: a cluster whose parts are killed amid work, and a service soaked in too much of it."""
