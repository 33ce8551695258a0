"""The paths of the REST API, one file each."""

from api import ids as ids  # routes spell `{id:id}`
