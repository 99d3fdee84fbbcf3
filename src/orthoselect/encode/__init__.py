"""Columns and responses of any kind -> numbers that a matrix can hold, or codes to be counted.

What comes in is a `Table`, in memory or in blocks of rows, and the columns of the response; what
goes out is a `Design` or a `CodedDesign`, and a `Response`. The one class to know is `Table`.

    table         numeric columns and labels, as they were read, or in blocks of rows; the design
                  of them: numbers and indicators side by side, and which feature owns what
    labels        labels of any kind as codes and levels
    lagged        signals over time: a table of products of their lags
    gaps          columns of numbers that lack values, filled
    bins          numeric columns, a few at a time, and the levels of their cells
    rules         how numbers become levels, learned from one block of rows or from many
    coding        features of one block of rows as codes
    coded_design  the codes of all rows, in memory or made block by block
    levels        levels as indicators
    spline_design numeric columns as natural splines
    response      columns of y, of what kind they are, and y as a matrix
    weights       row weights, checked
    spread        both of a Dask table, where its rows are
"""

from orthoselect.encode.coded_design import BlockCodedDesign, CodedDesign, build_codes
from orthoselect.encode.labels import Labels, find_labels
from orthoselect.encode.levels import build_level_design
from orthoselect.encode.response import (
    Response,
    TargetColumn,
    build_response,
    encode_response,
    response_basis,
)
from orthoselect.encode.table import (
    Design,
    Feature,
    Features,
    NumberedNames,
    Table,
    build_design,
)

__all__ = [
    "BlockCodedDesign",
    "CodedDesign",
    "Design",
    "Feature",
    "Features",
    "Labels",
    "NumberedNames",
    "Response",
    "Table",
    "TargetColumn",
    "build_codes",
    "build_design",
    "build_level_design",
    "build_response",
    "encode_response",
    "find_labels",
    "response_basis",
]
