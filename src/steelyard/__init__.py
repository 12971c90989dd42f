"""Statistical experiments on LLM-agent trials: what the evidence supports.

>>> import steelyard
>>> steelyard.__version__
'0.1.0'

``steelyard.open("plumbline_retry")`` gives a :class:`~steelyard.study.Study`: its tables as
DataFrames, SQL over them, and every analysis. Importing the package loads neither pandas, scipy,
matplotlib nor DuckDB; they come with the first study that is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.study import Study

__version__ = "0.1.0"

__all__ = ["SteelyardError", "Study", "__version__", "open"]


def open(
    study: str, *, root: str | Path | None = None, database: str | Path | None = None
) -> Study:
    """Open one study of a project.

    Parameters
    ----------
    study : str
        Its id, the name of its folder in ``experiments/``: ``"plumbline_retry"``.
    root : str or Path, optional
        The project: the folder that holds ``experiments/`` and ``data/manifest.toml``. By default
        ``STEELYARD_HOME``, else the nearest such folder at or above the working directory, else
        the checkout that the package is installed from.
    database : str or Path, optional
        A DuckDB file made by steelyard, opened read-only as it is. By default the project's own,
        which is rebuilt first when the committed data changed.

    Returns
    -------
    Study
        Tables, SQL and analyses of the study.

    Raises
    ------
    UnknownNameError
        If there is no such study. The message lists the nearest names.
    StoreError
        If the database is locked, foreign, or of another schema version.
    ManifestError
        If a data file differs from the manifest.

    Examples
    --------
    >>> import steelyard
    >>> steelyard.open("plumbline_retry").arms
    ('plan_execute', 'react')
    """
    from steelyard.study import open_study

    return open_study(study, root=root, database=database)


def __getattr__(name: str) -> Any:
    """Load :class:`Study` when it is first asked for."""
    if name == "Study":
        from steelyard.study import Study

        return Study
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, the lazily loaded one included."""
    return sorted(__all__)
