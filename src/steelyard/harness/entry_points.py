"""From ``"module:attribute"`` to the object: an experiment's own code first, then packages."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from steelyard.errors import StudyError, UnknownNameError


def resolve(entry: str, folder: Path | None, where: str) -> Any:
    """Import what an entry point names.

    Parameters
    ----------
    entry : str
        ``"module:attribute"``; both may be dotted.
    folder : pathlib.Path or None
        The experiment's folder. Its modules come first, then those of the folder above it
        (``experiments/``), then the installed packages.
    where : str
        File, line and field, for messages.

    Returns
    -------
    Any

    Raises
    ------
    StudyError
        If the module cannot be imported; the message holds the import's own error.
    UnknownNameError
        If the module lacks the attribute.
    """
    name, _, attribute = entry.partition(":")
    try:
        module = _import(name, folder)
    except Exception as error:  # code of the experiment: anything can be wrong with it
        raise StudyError(
            f"{where}: {name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            choices = [known for known in dir(found) if not known.startswith("_")]
            raise UnknownNameError("attribute", part, choices, f"{where}: module {name}")
        found = getattr(found, part)
    return found


def build(found: Any, parameters: Mapping[str, Any], where: str, **given: Any) -> Any:
    """Make the object that a study uses: see `steelyard.store.run_declaration.EntryPoint`.

    Parameters
    ----------
    found : Any
        From `resolve`.
    parameters : mapping
        Declared in ``study.toml``.
    where : str
        For messages.
    **given
        Further keyword arguments, not declared.

    Raises
    ------
    StudyError
        If the parameters do not fit, or the class refuses them.
    """
    if not parameters and not given and not inspect.isclass(found):
        return found
    if not callable(found):
        raise StudyError(f"{where}: it is a ready object and takes no parameters")
    if not inspect.isclass(found) and not given:
        check_fit(found, parameters, where)
        return functools.partial(found, **parameters)
    try:
        return found(**parameters, **given)
    except Exception as error:
        raise StudyError(f"{where}: {type(error).__name__}: {error}") from error


def check_fit(found: Any, parameters: Mapping[str, Any], where: str) -> None:
    """Raise `StudyError` if a class or function does not take parameters of these names."""
    try:
        inspect.signature(found).bind_partial(**parameters)
    except TypeError as error:
        raise StudyError(f"{where}: the parameters do not fit: {error}") from None


def _import(name: str, folder: Path | None) -> ModuleType:
    if folder is not None:
        for place in (folder.parent, folder):  # the experiment's own folder ends up in front
            text = str(place)
            if text in sys.path:
                sys.path.remove(text)
            sys.path.insert(0, text)
        _forget_other(name.partition(".")[0], folder)
    return importlib.import_module(name)


def _forget_other(top: str, folder: Path) -> None:
    """Drop a module of this name that came from another experiment.

    Every experiment may call its module ``agents``; objects made from the other one keep working.
    """
    expected = next(
        (
            file
            for place in (folder, folder.parent)
            for file in (place / f"{top}.py", place / top / "__init__.py", place / top)
            if file.exists()
        ),
        None,
    )
    loaded = sys.modules.get(top)
    if expected is None or loaded is None or _stands_at(loaded, expected):
        return
    for known in [name for name in sys.modules if name == top or name.startswith(top + ".")]:
        del sys.modules[known]
    importlib.invalidate_caches()


def _stands_at(module: ModuleType, expected: Path) -> bool:
    places = [module.__file__] if getattr(module, "__file__", None) else list(module.__path__)
    return any(Path(place).resolve() == expected.resolve() for place in places if place)
