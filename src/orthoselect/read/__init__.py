"""Arrays, sparse matrices, dataframes, files, blocks and Dask -> tables in plain NumPy terms.

In comes whatever users give as a table; out goes an `encode.Table`, with the response and the row
weights in a form that goes with it. The class to know is `Source` (`source.py`): a table that has
been looked at but not read. In memory is one block.

- `source.py`, `survey.py` read a table whole or in blocks; `open_source` asks what kind of table it
  is; nobody else does. `partitions.py`, `dask_source.py` and `dask_passes.py` do so on Dask,
  `spark_source.py` on Spark, in one pass.
- `block.py` knows arrays and sparse matrices, `frame_block.py` dataframes, `survey.py` the
  response; `row_blocks.py` has tables that come in blocks of rows, and parts of them.
- `looks.py` finds out what columns hold, `written.py` what text stands for; `clean.py` leaves out
  what is no feature, `readings.py` reads the rest. `dataset.py`, `columns.py`: what a file holds.
- `gap_survey.py`: where values are missing, and the rows that are left without these.
- `open.py` reads files, in memory if they fit, else in blocks; `paths.py` finds and opens them,
  `file_blocks.py` makes many of them one table, `write.py` writes.
- `arrow.py` (pyarrow's types and columns in plain terms, and its files), `text_files.py` (with
  `text_format.py`: how they are written, `text_columns.py`: what their columns hold),
  `numpy_files.py`: the formats.
"""

from orthoselect.read.block import Block
from orthoselect.read.clean import DATES_AS, drop_missing, read_given, sift
from orthoselect.read.dataset import Dataset, TextFormat, find_names, split_names
from orthoselect.read.file_blocks import FileBlocks
from orthoselect.read.gap_survey import any_missing, drop_rows, gaps_error, survey_gaps
from orthoselect.read.numpy_files import NpyBlocks
from orthoselect.read.open import (
    BUILT_IN,
    FORMATS,
    SUFFIXES,
    files_of,
    on_dask,
    read_source,
    read_table,
)
from orthoselect.read.readings import Readings, read_number
from orthoselect.read.row_blocks import (
    RowBlocks,
    check_block_names,
    is_path,
    response_columns,
    split_frame,
)
from orthoselect.read.source import (
    Source,
    find_file,
    find_for_one_pass,
    find_table,
    is_kept_elsewhere,
    is_spread,
    names_in_errors,
    open_named,
    open_source,
    why_not_whole,
)
from orthoselect.read.survey import numbers_of, read_target
from orthoselect.read.write import (
    check_output,
    output_format,
    write_blocks,
    write_columns,
)

__all__ = [
    "BUILT_IN",
    "DATES_AS",
    "FORMATS",
    "SUFFIXES",
    "Block",
    "Dataset",
    "FileBlocks",
    "NpyBlocks",
    "Readings",
    "RowBlocks",
    "Source",
    "TextFormat",
    "any_missing",
    "check_block_names",
    "check_output",
    "drop_missing",
    "drop_rows",
    "files_of",
    "find_file",
    "find_for_one_pass",
    "find_names",
    "find_table",
    "gaps_error",
    "is_kept_elsewhere",
    "is_path",
    "is_spread",
    "names_in_errors",
    "numbers_of",
    "on_dask",
    "open_named",
    "open_source",
    "output_format",
    "read_given",
    "read_number",
    "read_source",
    "read_table",
    "read_target",
    "response_columns",
    "sift",
    "split_frame",
    "split_names",
    "survey_gaps",
    "why_not_whole",
    "write_blocks",
    "write_columns",
]
