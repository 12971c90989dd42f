"""Global alignment of token sequences, one pair or many thousands at once.

`align` aligns two sequences; `align_many` and `align_pairs` align batches and keep the results in
arrays. `encode` turns tokens into integer codes, so that equality is ours and not the hash
table's.
"""

from steelyard.stats.alignment.batch import AlignmentBatch
from steelyard.stats.alignment.encoding import TokenSequences, encode
from steelyard.stats.alignment.many import align_many, align_pairs
from steelyard.stats.alignment.pairwise import align
from steelyard.stats.alignment.region import MAX_CELLS
from steelyard.stats.alignment.results import Alignment, EditOperation
from steelyard.stats.alignment.scoring import Scoring
from steelyard.stats.alignment.scripts import OPERATIONS

__all__ = [
    "MAX_CELLS",
    "OPERATIONS",
    "Alignment",
    "AlignmentBatch",
    "EditOperation",
    "Scoring",
    "TokenSequences",
    "align",
    "align_many",
    "align_pairs",
    "encode",
]
