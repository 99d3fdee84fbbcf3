"""Arrays, sparse matrices, dataframes and files -> tables in plain NumPy terms."""

from orthoselect.read.block_source import BlockSource
from orthoselect.read.blocks import RowBlocks, is_block_source
from orthoselect.read.files import read_file
from orthoselect.read.table import Source, open_source
from orthoselect.read.target import read_target

__all__ = [
    "BlockSource",
    "RowBlocks",
    "Source",
    "is_block_source",
    "open_source",
    "read_file",
    "read_target",
]
