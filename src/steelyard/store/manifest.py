"""``data/manifest.toml``: which evidence files there are, and their exact content.

A number is only pinned if the bytes behind it are. Every file below ``data/`` that holds evidence
is listed with its size, rows and SHA-256; before a database is built or used, all of them are
compared.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import Field

from steelyard.errors import ManifestError
from steelyard.store.tabular import read_csv
from steelyard.store.toml_files import Declared, read_toml

MANIFEST = "manifest.toml"
EVIDENCE = (".csv", ".csv.gz", ".parquet", ".json", ".jsonl", ".jsonl.gz")
"""Endings of files that hold evidence; documents and licences are not listed."""

_HEAD = """\
# The evidence files, with size in bytes, rows, and SHA-256.
# Written by `python -m steelyard.store`, after a deliberate change of the data only.
"""


class FileEntry(Declared):
    """One evidence file: size in bytes, data rows (header not counted), SHA-256 in hex."""

    bytes: Annotated[int, Field(ge=0)]
    rows: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(Declared):
    """A whole ``manifest.toml``: entries by path below ``data/``."""

    files: dict[str, FileEntry]


def read_manifest(data: Path) -> Manifest:
    """Read ``data/manifest.toml``.

    Parameters
    ----------
    data : pathlib.Path
        The data folder.

    Returns
    -------
    Manifest

    Raises
    ------
    ManifestError
        If it is absent.
    StudyError
        If it breaks the schema.
    """
    if not (data / MANIFEST).is_file():
        raise ManifestError(
            f"data/{MANIFEST} is absent; the evidence cannot be verified without it"
        )
    return read_toml(data / MANIFEST, Manifest, f"data/{MANIFEST}")


def verify(data: Path, sources: list[str] | None = None) -> Manifest:
    """Compare the evidence files with the manifest.

    Parameters
    ----------
    data : pathlib.Path
        The data folder.
    sources : list of str, optional
        Only these folders; all when absent.

    Returns
    -------
    Manifest

    Raises
    ------
    ManifestError
        Naming every file that is changed (with the expected and the found digest), absent, or
        not listed.
    """
    manifest = read_manifest(data)
    faults = []
    found = _evidence(data)
    for name in sorted({*manifest.files, *found}):
        if sources is not None and name.split("/")[0] not in sources:
            continue
        if name not in found:
            faults.append(f"data/{name}: listed in the manifest, but absent")
        elif name not in manifest.files:
            faults.append(
                f"data/{name}: not in the manifest; remove it, or list it with "
                "`python -m steelyard.store`"
            )
        else:
            fault = _difference(found[name], manifest.files[name])
            if fault:
                faults.append(f"data/{name}: {fault}")
    if faults:
        raise ManifestError("\n".join(faults))
    return manifest


def write_manifest(data: Path, source: str | None = None) -> Manifest:
    """Write ``data/manifest.toml`` anew from the files that are there.

    Run it only after a deliberate change of the data (a new source, a corrected row), look at
    the difference, and commit it together with the changed files: it declares whatever it finds
    to be right.

    Parameters
    ----------
    data : pathlib.Path
        The data folder.
    source : str, optional
        List the files of this folder anew and leave the entries of all others as they are.

    Returns
    -------
    Manifest
        What was written.

    Raises
    ------
    DataError
        If a CSV file cannot be read.
    """
    entries = {}
    if source is not None and (data / MANIFEST).is_file():
        kept = read_manifest(data).files.items()
        entries = {name: entry for name, entry in kept if name.split("/")[0] != source}
    for name, path in _evidence(data).items():
        if source is not None and name.split("/")[0] != source:
            continue
        content = path.read_bytes()
        rows = len(read_csv(path, f"data/{name}")) if name.endswith((".csv", ".csv.gz")) else 0
        entries[name] = FileEntry(
            bytes=len(content), rows=rows, sha256=hashlib.sha256(content).hexdigest()
        )
    blocks = [
        f'[files."{name}"]\nbytes = {entry.bytes}\nrows = {entry.rows}\nsha256 = "{entry.sha256}"\n'
        for name, entry in sorted(entries.items())
    ]
    (data / MANIFEST).write_text("\n".join([_HEAD, *blocks]), encoding="utf-8", newline="\n")
    return Manifest(files=dict(sorted(entries.items())))


def _evidence(data: Path) -> dict[str, Path]:
    """Return the evidence files by their path below ``data/``, with forward slashes."""
    return {
        path.relative_to(data).as_posix(): path
        for path in sorted(data.rglob("*"))
        if path.name.endswith(EVIDENCE) and not path.name.startswith(".")
    }


def _difference(path: Path, entry: FileEntry) -> str | None:
    if path.is_dir():
        return "a directory stands where a file is expected"
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found == entry.sha256:
        return None
    with_lf = hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()
    hint = (
        "; only the line ends differ (CRLF instead of LF): check it out again with the "
        "repository's .gitattributes"
        if with_lf == entry.sha256
        else "; restore the file, or correct the manifest if the change is meant"
    )
    return (
        f"changed: expected SHA-256 {entry.sha256} ({entry.bytes} bytes), "
        f"found {found} ({len(content)} bytes){hint}"
    )
