"""A program of its own around iocextract: lines of JSON in, lines of JSON out.

It is run as `python FILE` and imported by nobody, because iocextract is GPL-2.0 and this service is not. The first line
of standard input is the module search path, each further one a text. Each text is answered with a list of pairs: an
address or mailbox as written, and written plainly. Exit status 3 says that iocextract is not installed.
"""

from __future__ import annotations

import json
import sys

NOT_INSTALLED = 3


def main() -> int:
    """Answer every line of standard input."""
    sys.path[:] = json.loads(sys.stdin.readline())
    try:
        import iocextract
    except ImportError:
        return NOT_INSTALLED
    readers = (iocextract.extract_unencoded_urls, iocextract.extract_ips, iocextract.extract_emails)
    for line in sys.stdin:
        text = json.loads(line)
        pairs = [
            pair
            for reader in readers
            for pair in zip(reader(text, refang=False), reader(text, refang=True), strict=False)
        ]
        sys.stdout.write(json.dumps(pairs) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
