"""Rate limits: who is charged, how much, and what the answer says about it."""
