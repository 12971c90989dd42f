"""The aligners, each called as its documentation says, each asked for an edit script a pair.

An aligner has two forms of input. ``prepare`` makes, outside of the clock, the form that it
reads fastest; ``align`` works on that. ``align_names`` starts from lists of tool names and so
includes whatever conversion it needs. ``score`` adds up the scores of the results, to show that
every aligner found alignments that are equally good. A match scores +2 and a mismatch -1; a gap
scores -2 a position, which makes the best alignment the one with the fewest edits, or -3.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any

from workloads import Workload

MATCH, MISMATCH = 2, -1
FEWEST_EDITS = -2


class Aligner:
    """What the aligners share: one call a pair."""

    package: str
    gives: str
    # Why some measurements are left out; empty where they are not.
    reads_names: str = ""
    edits_only: str = ""
    needs_repeats: str = ""

    def __init__(self, gap: int) -> None:
        self.gap = gap

    @property
    def version(self) -> str:
        """Version of the package."""
        return metadata.version(self.package)

    def skips(self, workload: Workload, form: str) -> str:
        """Say why a measurement is left out; empty when it is not."""
        if form == "names" and self.reads_names:
            return self.reads_names
        if self.gap != FEWEST_EDITS and self.edits_only:
            return self.edits_only
        return self.needs_repeats if workload.name != "paths" else ""

    def prepare(self, workload: Workload) -> Any:
        """Return references and candidates, one a pair, in the aligner's own form."""
        sequences = self.convert(workload)
        return (
            [sequences[place] for place in workload.references],
            [sequences[place] for place in workload.candidates],
        )

    def convert(self, workload: Workload) -> list[Any]:
        """Return the sequences in the aligner's own form."""
        raise NotImplementedError

    def align(self, prepared: Any) -> Any:
        """Align all pairs; return all edit scripts."""
        raise NotImplementedError

    def align_names(self, references: list[list[str]], candidates: list[list[str]]) -> Any:
        """Do the same from lists of names."""
        return self.align((references, candidates))

    def score(self, results: Any) -> float:
        """Return the sum of all scores."""
        raise NotImplementedError


class Steelyard(Aligner):
    package = "steelyard"
    gives = "operations of all distinct pairs in one array, offsets, scores"

    @property
    def version(self) -> str:
        import steelyard

        return steelyard.__version__

    def prepare(self, workload: Workload) -> Any:
        import numpy as np

        from steelyard.stats.alignment import encode

        pairs = np.array([workload.references, workload.candidates]).T
        return encode(workload.sequences), pairs

    def align(self, prepared: Any) -> Any:
        from steelyard.stats.alignment import align_pairs

        return align_pairs(*prepared, gap=self.gap)

    def align_names(self, references: list[list[str]], candidates: list[list[str]]) -> Any:
        from steelyard.stats.alignment import align_many

        return align_many(references, candidates, gap=self.gap)

    def score(self, results: Any) -> float:
        return float(results.scores.sum())


class Biopython(Aligner):
    package = "biopython"
    gives = "coordinates of the first optimal alignment, its score"

    def __init__(self, gap: int) -> None:
        super().__init__(gap)
        from Bio.Align import PairwiseAligner

        self.aligner = PairwiseAligner(
            mode="global", match_score=MATCH, mismatch_score=MISMATCH, gap_score=gap
        )

    def convert(self, workload: Workload) -> list[Any]:
        return list(workload.letters())

    def align(self, prepared: Any) -> Any:
        align = self.aligner.align
        results = []
        for reference, candidate in zip(*prepared, strict=True):
            alignment = align(reference, candidate)[0]
            results.append((alignment.score, alignment.coordinates))
        return results

    def score(self, results: Any) -> float:
        return float(sum(score for score, _ in results))


class Parasail(Aligner):
    package = "parasail"
    gives = "cigar, score"

    def __init__(self, gap: int) -> None:
        super().__init__(gap)
        import parasail

        self.parasail = parasail

    def convert(self, workload: Workload) -> list[Any]:
        return list(workload.letters())

    def align(self, prepared: Any) -> Any:
        used = "".join(sorted(set().union(*map(set, prepared[0]), *map(set, prepared[1]))))
        matrix = self.parasail.matrix_create(used, MATCH, MISMATCH, True)
        align = self.parasail.nw_trace_scan_16
        results = []
        for reference, candidate in zip(*prepared, strict=True):
            result = align(reference, candidate, -self.gap, -self.gap, matrix)
            results.append((result.score, result.cigar.seq))
        return results

    def align_names(self, references: list[list[str]], candidates: list[list[str]]) -> Any:
        tokens = sorted(set().union(*references, *candidates))
        letters = [chr(c) for c in (*range(48, 127), *range(161, 256))]
        letter = dict(zip(tokens, letters, strict=False))
        texts = (
            ["".join([letter[token] for token in sequence]) for sequence in side]
            for side in (references, candidates)
        )
        return self.align(tuple(texts))

    def score(self, results: Any) -> float:
        return float(sum(score for score, _ in results))


class SequenceAlign(Aligner):
    package = "sequence-align"
    gives = "both sequences with gaps filled in"
    reads_names = "its own form is a list of names"

    def __init__(self, gap: int) -> None:
        super().__init__(gap)
        from sequence_align.pairwise import needleman_wunsch

        self.function = needleman_wunsch

    def convert(self, workload: Workload) -> list[Any]:
        return list(workload.sequences)

    def align(self, prepared: Any) -> Any:
        scores = {"match_score": MATCH, "mismatch_score": MISMATCH, "indel_score": self.gap}
        return [
            self.function(reference, candidate, gap="-", **scores)
            for reference, candidate in zip(*prepared, strict=True)
        ]

    def score(self, results: Any) -> float:
        total = 0
        for one, other in results:
            for left, right in zip(one, other, strict=True):
                gap = left == "-" or right == "-"
                total += self.gap if gap else MATCH if left == right else MISMATCH
        return float(total)


class Rapidfuzz(Aligner):
    package = "rapidfuzz"
    gives = "edits only (Levenshtein, unit costs; no scores, another choice among ties)"
    edits_only = "counts edits only"

    def __init__(self, gap: int) -> None:
        super().__init__(gap)
        from rapidfuzz.distance import Levenshtein

        self.editops = Levenshtein.editops

    def convert(self, workload: Workload) -> list[Any]:
        return list(workload.letters())

    def align(self, prepared: Any) -> Any:
        editops = self.editops
        return [
            editops(reference, candidate) for reference, candidate in zip(*prepared, strict=True)
        ]

    def score(self, results: Any) -> float:
        # With these scores: total length less 3 for each edit.
        return float(sum(r.src_len + r.dest_len - 3 * len(r) for r in results))


class RapidfuzzOnce(Rapidfuzz):
    gives = "the same, with a dict in front so that each distinct pair is aligned once"
    needs_repeats = "no pair occurs twice"

    def align(self, prepared: Any) -> Any:
        editops = self.editops
        known: dict[Any, Any] = {}
        results = []
        for pair in zip(*prepared, strict=True):
            found = known.get(pair)
            if found is None:
                found = known[pair] = editops(*pair)
            results.append(found)
        return results

    def align_names(self, references: list[list[str]], candidates: list[list[str]]) -> Any:
        return self.align((map(tuple, references), map(tuple, candidates)))


class Plumbline(Aligner):
    package = "plumbline-harness"
    gives = "a list of operations with indices"
    reads_names = "its own form is a tuple of names"
    edits_only = "its scores are fixed"

    def __init__(self, gap: int) -> None:
        super().__init__(gap)
        from plumbline.core.align import align

        self.function = align

    def convert(self, workload: Workload) -> list[Any]:
        return list(map(tuple, workload.sequences))

    def align(self, prepared: Any) -> Any:
        return [
            self.function(candidate, reference)
            for reference, candidate in zip(*prepared, strict=True)
        ]

    def score(self, results: Any) -> float:
        worth = {"match": MATCH, "substitute": MISMATCH, "skipped": self.gap, "extra": self.gap}
        return float(sum(worth[operation.op] for script in results for operation in script))


ALIGNERS: dict[str, type[Aligner]] = {
    "steelyard": Steelyard,
    "biopython": Biopython,
    "parasail": Parasail,
    "sequence-align": SequenceAlign,
    "rapidfuzz": Rapidfuzz,
    "rapidfuzz, each pair once": RapidfuzzOnce,
    "plumbline": Plumbline,
}
