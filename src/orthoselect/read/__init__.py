"""Arrays, sparse matrices, dataframes and files -> tables in plain NumPy terms."""

from orthoselect.read.block_source import BlockSource
from orthoselect.read.blocks import RowBlocks, is_block_source
from orthoselect.read.builtin import BUILT_IN
from orthoselect.read.dask_source import DaskSource
from orthoselect.read.dask_table import DaskTable, gathered, is_dask
from orthoselect.read.dataset import Dataset, TextFormat
from orthoselect.read.files import FORMATS, SUFFIXES, read_source
from orthoselect.read.missing import drop_missing
from orthoselect.read.patterns import find_names
from orthoselect.read.sift import sift
from orthoselect.read.table import Source, open_source
from orthoselect.read.target import read_target
from orthoselect.read.write import check_output, write_columns

__all__ = [
    "BUILT_IN",
    "FORMATS",
    "SUFFIXES",
    "BlockSource",
    "DaskSource",
    "DaskTable",
    "Dataset",
    "RowBlocks",
    "Source",
    "TextFormat",
    "check_output",
    "drop_missing",
    "find_names",
    "gathered",
    "is_block_source",
    "is_dask",
    "open_source",
    "read_source",
    "read_target",
    "sift",
    "write_columns",
]
