"""Arrays, sparse matrices, dataframes and files -> tables in plain NumPy terms."""

from orthoselect.read.block_columns import ColumnsOf
from orthoselect.read.block_source import BlockSource
from orthoselect.read.blocks import RowBlocks, WithMemory, is_block_source
from orthoselect.read.builtin import BUILT_IN
from orthoselect.read.dask_source import DaskSource, gathered_columns
from orthoselect.read.dask_table import DaskTable, OnDask, gathered, is_dask
from orthoselect.read.dataset import Dataset, TextFormat
from orthoselect.read.file_blocks import FileBlocks
from orthoselect.read.files import FORMATS, SUFFIXES, files_of, read_source
from orthoselect.read.missing import drop_missing
from orthoselect.read.npy_blocks import NpyBlocks
from orthoselect.read.opening import is_path, map_blocks, on_dask, read_table
from orthoselect.read.patterns import find_names, response_columns
from orthoselect.read.sift import sift
from orthoselect.read.table import Source, open_source
from orthoselect.read.target import numbers_of, read_target
from orthoselect.read.write import check_output, output_format, write_columns
from orthoselect.read.write_blocks import check_block_output, write_blocks

__all__ = [
    "BUILT_IN",
    "FORMATS",
    "SUFFIXES",
    "BlockSource",
    "ColumnsOf",
    "DaskSource",
    "DaskTable",
    "Dataset",
    "FileBlocks",
    "NpyBlocks",
    "OnDask",
    "RowBlocks",
    "Source",
    "TextFormat",
    "WithMemory",
    "check_block_output",
    "check_output",
    "drop_missing",
    "files_of",
    "find_names",
    "gathered",
    "gathered_columns",
    "is_block_source",
    "is_dask",
    "is_path",
    "map_blocks",
    "numbers_of",
    "on_dask",
    "open_source",
    "output_format",
    "read_source",
    "read_table",
    "read_target",
    "response_columns",
    "sift",
    "write_blocks",
    "write_columns",
]
