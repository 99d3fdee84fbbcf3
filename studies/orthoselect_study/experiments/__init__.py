"""The experiments of the study; a new one is a file and one line in the registry."""

from orthoselect_study.experiments.base import Experiment
from orthoselect_study.experiments.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Experiment"]
