"""How fast orthoselect is beside its peers: `python -m benchmarks` from the repository's root."""
