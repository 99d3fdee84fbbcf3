"""The pages hold examples that are tested; what is built from them holds copies."""

collect_ignore = ["conf.py", "_build", "gallery", "generated"]
