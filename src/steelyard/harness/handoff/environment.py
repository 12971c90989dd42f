"""The environment variables that an agent's process gets: a list of names, everything else not.

Credentials, proxies, loader hooks, Python's and Git's own settings of the caller never pass.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

ALLOWED = (
    "COLORTERM",
    "COMSPEC",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "WINDIR",
)
USER_FOLDERS = (
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)
ROUTING = (
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_GATEWAY_MODEL",
    "CLAUDE_MODEL",
    "CODEX_LITELLM_MODEL_INDEX",
    "CODEX_MODEL",
    "LITELLM_BASE_URL",
)
"""Which model answers; none of them is a secret."""

CANARY_URL = "WAYBILL_CONFORMANCE_COMMAND_CANARY_URL"
ADAPTER = "WAYBILL_CONFORMANCE_ADAPTER"
LOOPBACK = "127.0.0.1,localhost"

_FORCED = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
}


def _home_folders(runtime_home: Path) -> dict[str, str]:
    below = {
        "HOME": "",
        "XDG_CACHE_HOME": ".cache",
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
    }
    return {name: str(runtime_home / folder) for name, folder in below.items()}


def _temporary_folders(runtime_home: Path) -> dict[str, str]:
    return dict.fromkeys(("TEMP", "TMP", "TMPDIR"), str(runtime_home / "tmp"))


def import_environment(
    runtime_home: Path,
    *,
    canary_url: str | None = None,
    inherit_user_config: bool = False,
    parent: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the environment of an importing agent.

    Parameters
    ----------
    runtime_home : pathlib.Path
        The agent's home below the disposable root; its ``tmp`` is for temporary files.
    canary_url : str, optional
        Where the command canary reports to.
    inherit_user_config : bool, default False
        For a real agent, which needs its user's home and choice of model.
    parent : mapping, optional
        The environment to choose from; the process's own by default.
    """
    source = os.environ if parent is None else parent
    names = (*ALLOWED, *USER_FOLDERS, *ROUTING) if inherit_user_config else ALLOWED
    chosen = {name: source[name] for name in names if name in source}
    if not inherit_user_config:
        chosen |= _home_folders(runtime_home)
    chosen |= _FORCED | _temporary_folders(runtime_home)
    return chosen if canary_url is None else {**chosen, CANARY_URL: canary_url}


def export_environment(
    adapter: str,
    canary_url: str,
    runtime_home: Path,
    *,
    inherit_user_config: bool = False,
    compatibility: bool = False,
    parent: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the environment of an exporting agent.

    Parameters
    ----------
    adapter : str
        Whose instructions it follows.
    canary_url : str
        Where the command canary reports to.
    runtime_home : pathlib.Path
        As for `import_environment`.
    inherit_user_config : bool, default False
        As for `import_environment`.
    compatibility : bool, default False
        Let also a scripted agent use the caller's home and temporary folder, as the published
        runner does.
    parent : mapping, optional
        As for `import_environment`.
    """
    source = os.environ if parent is None else parent
    names = [name for name in ALLOWED if name != "TZ"]
    names += USER_FOLDERS if compatibility or inherit_user_config else ()
    names += ROUTING if inherit_user_config else ()
    chosen = {name: source[name] for name in names if name in source}
    if not compatibility:
        chosen |= _temporary_folders(runtime_home)
        chosen |= {} if inherit_user_config else _home_folders(runtime_home)
    return {
        **chosen,
        **_FORCED,
        ADAPTER: adapter,
        CANARY_URL: canary_url,
        "NO_PROXY": LOOPBACK,
        "no_proxy": LOOPBACK,
    }
