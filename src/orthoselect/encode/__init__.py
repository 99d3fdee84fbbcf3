"""Columns and responses of any kind -> numbers that a matrix can hold."""

from orthoselect.encode.coded_design import BlockCodedDesign, CodedDesign, build_codes
from orthoselect.encode.design import Design, Feature, Features, build_design
from orthoselect.encode.labels import Labels, find_labels
from orthoselect.encode.levels import build_level_design
from orthoselect.encode.response import Response, encode_response, response_basis
from orthoselect.encode.table import NumberedNames, Table
from orthoselect.encode.target import TargetColumn, build_response

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
