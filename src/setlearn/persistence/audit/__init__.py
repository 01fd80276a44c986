"""Every check of content that a file brings: what must hold before it is built, and before use."""
