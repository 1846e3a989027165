"""Where the LibreOffice Help is downloaded from."""

# Where the LibreOffice Help is downloaded from. The release is fixed so that everyone gets the same text.
DEBIAN_MIRROR = "https://deb.debian.org/debian"
DEBIAN_RELEASE = "bookworm"

# Addresses that are passed to a shell and shown in messages.
ADDRESS_PATTERN = r"(https?|file)://[^\s'\"]+"
RELEASE_PATTERN = r"[a-z][a-z0-9-]*"
