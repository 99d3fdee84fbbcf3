"""The pages hold examples that are tested; what builds and what is built does not."""

collect_ignore = ["conf.py", "_ext", "_build", "gallery", "generated"]
