"""The nouns of the service and the rules that hold for every process of it."""
