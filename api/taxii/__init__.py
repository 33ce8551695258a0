"""TAXII 2.1: collections of STIX objects, read page by page in the order in which they were added."""
