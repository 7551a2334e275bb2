"""The wheel: it holds the stylesheet, and the console script runs in a folder with an app/ and widgets/ of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.timeout(180)
def test_the_wheel_runs_beside_a_users_own_app_and_widgets(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "app/styles.tcss" in names
    assert "app/ai/catalogue.json" in names
    assert not [name for name in names if name.startswith("tests/")]

    home = tmp_path / "venv"
    venv.create(home, with_pip=False, system_site_packages=False)
    python = home / "bin" / "python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    project = tmp_path / "project"
    for package in ("app", "widgets"):
        (project / package).mkdir(parents=True)
        (project / package / "__init__.py").write_text("raise SystemExit('the user's own package was imported')\n")
    script = "import sys; from app.__main__ import main; sys.exit(main())"
    launcher = home / "bin" / "pinyon"
    launcher.write_text(f"#!{python}\n{script}\n")
    launcher.chmod(0o755)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ran = subprocess.run(
        [str(launcher), "--version"], cwd=project, env=env, capture_output=True, text=True, timeout=30, check=False
    )
    assert ran.stdout.startswith("pinyon 0."), ran.stderr
