"""What was tried and what was wrong, counted; printed as a table of the page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """The count of one part.

    Attributes
    ----------
    part : str
    seed : int
    axes : tuple of two str
        What the rows and the columns of the table are.
    tried : int
        Problems or files.
    runs, wrong : Counter
        By what stands on the axes.
    kinds : Counter
        How often each kind of failure was met.
    """

    part: str
    seed: int
    axes: tuple[str, str]
    tried: int = 0
    runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def count(self, where: tuple[str, str], wrong: str | None) -> None:
        """Count a run, and what was wrong with it."""
        self.runs[where] += 1
        if wrong is not None:
            self.wrong[where] += 1
            self.kinds[wrong] += 1

    @property
    def n_wrong(self) -> int:
        """How many runs were wrong."""
        return self.wrong.total()

    def summary(self) -> str:
        """Return a line."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common())
        told = f" ({kinds})" if kinds else ""
        return (
            f"{self.part}: {self.tried} tried, {self.runs.total()} runs, "
            f"{self.n_wrong} wrong{told}; seed {self.seed}"
        )

    def markdown(self) -> str:
        """Return two tables: by what stands on either axis."""
        return "\n\n".join(self._table(axis) for axis in (0, 1))

    def _table(self, axis: int) -> str:
        lines = [f"| {self.axes[axis]} | runs | wrong |", "| --- | ---: | ---: |"]
        names = dict.fromkeys(sorted(where[axis] for where in self.runs))
        for name in names:
            runs = sum(c for where, c in self.runs.items() if where[axis] == name)
            wrong = sum(c for where, c in self.wrong.items() if where[axis] == name)
            lines.append(f"| {name} | {runs} | {wrong} |")
        return "\n".join(lines)
