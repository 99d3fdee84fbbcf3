"""Random problems and broken files by the thousand, judged against a truth in long doubles."""
