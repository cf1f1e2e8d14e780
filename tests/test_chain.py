"""The way from the repository to a reader: workflows, locks, and the repository's address."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from book import address
from book._ext.repository import branch, repository
from tests.site_ext.tiny_book import build

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(".github/workflows/*.yml"))}
OWN, PLACEHOLDER = "https://github.com/someone/clocks", "https://github.com/example/clocks"


def wrong_in_workflow(text: str) -> list[str]:
    """Rights that are not asked for by name, credentials that stay, actions that a moved tag would change."""
    flow = yaml.safe_load(text)
    found = [] if flow.get("permissions") == {"contents": "read"} else ["permissions: contents: read"]
    for name, job in flow["jobs"].items():
        if "write" in str(job.get("permissions")) and ("run: make" in text.split(f"  {name}:\n")[1].split("\n\n")[0]):
            found.append(f"{name} writes and runs code of the repository")
        checkouts = [step for step in job.get("steps", ()) if "actions/checkout" in step.get("uses", "")]
        kept = [s for s in checkouts if s.get("with", {}).get("persist-credentials") is not False]
        found += [f"{name}: persist-credentials: false" for _ in kept]
    used = re.findall(r"uses: (?!\./)(.*)", text)
    return found + [use for use in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} +# v\d+\.\d+\.\d+", use)]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_reads_and_no_more_and_runs_what_was_read(name):
    assert wrong_in_workflow(WORKFLOWS[name]) == []


@pytest.mark.parametrize(
    ("what", "by", "said"),
    [
        (r"permissions:\n  contents: read\n", "", "permissions"),
        ("contents: read", "contents: write", "permissions"),
        ("persist-credentials: false", "persist-credentials: true", "persist"),
        (r"@[0-9a-f]{40}   # (v\d+)", r"@\1   # \1", "@v"),
        (r"   # v\d.*", "", "actions/"),
        ("- run: sha256sum.*", "- run: make zip", "writes and runs"),
    ],
)
def test_control_workflow(what, by, said):
    changed = re.sub(what, by, WORKFLOWS["publish.yml"], count=1)
    assert said in str(wrong_in_workflow(changed))


def wrong_in_lock(package: dict, lock: dict) -> list[str]:
    """Packages of the linter without a hash or with an address, and a lock of other versions."""
    inside = {name: entry for name, entry in lock["packages"].items() if name}
    found = [name for name, entry in inside.items() if "resolved" in entry or not entry.get("integrity")]
    same = lock["packages"][""]["devDependencies"] == package["devDependencies"]
    return found + ([] if same else ["other versions than package.json: npm install --package-lock-only"])


def test_the_linter_s_lock_has_hashes_and_no_addresses():
    package, lock = (json.loads((ROOT / f"package{part}.json").read_text()) for part in ("", "-lock"))
    assert wrong_in_lock(package, lock) == []
    assert "omit-lockfile-registry-resolved=true" in (ROOT / ".npmrc").read_text()
    for change in ({"integrity": ""}, {"resolved": "here"}):
        bad = {"packages": lock["packages"] | {"node_modules/x": {"integrity": "sha512-0"} | change}}
        assert wrong_in_lock(package, bad) == ["node_modules/x"]
    assert "other versions" in wrong_in_lock({"devDependencies": {}}, lock)[0]


def test_updates_leave_what_the_numbers_were_made_with():
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]
    kinds = {u["package-ecosystem"]: {i["dependency-name"] for i in u.get("ignore", ())} for u in updates}
    assert kinds == {"github-actions": set(), "pip": {"torch", "numpy"}, "npm": set()}


@pytest.fixture
def copied(tmp_path) -> Path:
    """The files that depend on the address, in a repository of their own at the tag of the version."""
    for path in (*address.expected(), ROOT / "pyproject.toml", ROOT / "CHANGELOG.md"):
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    return tmp_path


def move(root: Path, to: str) -> None:
    project = root / "pyproject.toml"
    project.write_text(re.sub(r'(?m)^Repository = ".*"', f'Repository = "{to}"', project.read_text()))


def tagged(root: Path, tag: str) -> None:
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["tag", tag]):
        subprocess.run([*git, *command], check=True)


@pytest.mark.parametrize("placeholder", [PLACEHOLDER, "https://example.org/me/rope-lab"])
def test_a_placeholder_is_printed_nowhere(copied, placeholder):
    move(copied, placeholder)
    for path, text in address.expected(copied).items():
        assert not re.search(r"git\+|/example|example\.|advisories|repository-code", text), path
    lab = (address.expected(copied)[copied / "notebooks" / "01_one_plane.ipynb"]).replace('\\"', '"')
    assert "pip install './rope_lab-" in lab
    assert "pip install '.[lab]'" in lab


def test_with_an_address_of_its_own_every_file_has_it(copied):
    move(copied, OWN)
    _, tag = repository(copied)
    files = {path.name: text.replace('\\"', '"') for path, text in address.expected(copied).items()}
    assert f"\nrepository-code: {OWN}\n" in files.pop("CITATION.cff")
    assert f"({OWN}/security/advisories/new)" in files.pop("SECURITY.md")
    assert len(files) == len(list(ROOT.glob("notebooks/*.ipynb")))
    assert all(f'release = "git+{OWN}@{tag}"' in text for text in files.values())
    for path, text in address.expected(copied).items():
        path.write_text(text, encoding="utf-8")
    assert address.expected(copied) == {path: path.read_text(encoding="utf-8") for path in address.expected(copied)}
    shutil.copy(ROOT / "pyproject.toml", copied)  # and back
    assert list(address.expected(copied).values()) == list(address.expected().values())


def test_files_are_as_the_address_makes_them():
    assert address.expected() == {path: path.read_text(encoding="utf-8") for path in address.expected()}


@pytest.mark.parametrize(("to", "tag", "at"), [(OWN, "v0", "main"), (OWN, "", None), (PLACEHOLDER, "", "")])
def test_pages_lead_to_the_repository_and_to_the_tag_that_they_were_built_from(tmp_path, to, tag, at):
    source = tmp_path / "source"
    (source / "notebooks").mkdir(parents=True)
    (source / "notebooks" / "01_one_plane.md").write_text("---\norphan: true\n---\n# Lab\n")
    shutil.copy(ROOT / "pyproject.toml", source)
    move(source, to)
    version = repository(source)[1]
    tagged(source, tag or version)
    theirs = {"repository_url": "https://github.com/theirs/book", "use_repository_button": True}
    more = {"html_theme": "sphinx_book_theme", "extensions": ["repository"], "html_theme_options": theirs}
    build(tmp_path, "# One plane\n\nText.\n", **more)
    page = (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    lab = f'.google.com/github/someone/clocks/blob/{at or version}/notebooks/01_one_plane.ipynb"'
    issue = f'href="{to}/issues/new'
    assert [lab in page, issue in page, to in page] == [at != ""] * 3
    assert ("colab" in page, "theirs" in page) == (at != "", False)


REFUSED = [("", OWN, 0), ("v9.9.9", OWN, 1), ("v0x1x0", OWN, 1), ("", f"{OWN}2", 1)]


@pytest.mark.parametrize(("tag", "of", "status"), REFUSED)
def test_publishing_refuses_a_tag_that_is_not_the_version_and_another_repository(copied, tag, of, status):
    move(copied, OWN)
    with (copied / "CHANGELOG.md").open("a") as changes:
        changes.write("## 9.9.9 - never\n")
    (_, step) = yaml.safe_load(WORKFLOWS["publish.yml"])["jobs"]["named"]["steps"]
    server, _, name = of.partition(".com/")
    env = {"GITHUB_REF_NAME": tag or repository(copied)[1]}
    env |= {"GITHUB_SERVER_URL": f"{server}.com", "GITHUB_REPOSITORY": name}
    assert subprocess.run(["bash", "-ec", step["run"]], cwd=copied, env=env, check=False).returncode == status


def test_only_a_tag_is_published_and_only_after_that():
    flow = yaml.safe_load(WORKFLOWS["publish.yml"])
    assert flow[True] == {"push": {"tags": ["v*"]}}  # YAML reads the word "on" as true
    assert {name: job.get("needs") for name, job in flow["jobs"].items()} == {
        "named": None, "check": "named", "build": "check", "pages": "build", "release": "build",
    }  # fmt: skip
    assert branch(ROOT / "no folder", "v1") == "main"
