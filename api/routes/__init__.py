"""The paths of the REST API, one file each."""
