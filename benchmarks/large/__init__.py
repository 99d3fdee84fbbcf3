"""Tables larger than memory: a page of its own, since it takes gigabytes of disk and minutes."""
