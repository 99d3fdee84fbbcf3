"""From a result to what a person reads: a plain dictionary, a page, a terminal table."""
