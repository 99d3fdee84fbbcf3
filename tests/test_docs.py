"""The site is complete, its pages lead to each other, and nothing of it needs a network."""

import importlib
import re
import runpy
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

import orthoselect

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BUILT = ("_build", "gallery", "generated")
PAGES = [p for p in sorted(DOCS.rglob("*.md")) if p.relative_to(DOCS).parts[0] not in BUILT]
MARKDOWN = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
MODULES = ["orthoselect", "orthoselect.encode", "orthoselect.methods", "orthoselect.statistics"]
FENCE = re.compile(r"^( *)(`{3,}|:{3,}).*?^\1\2 *$", re.DOTALL | re.MULTILINE)


API = ("api.md", "api_extend.md")
FOR_EXTENSIONS = re.compile(r"orthoselect\.(criteria|matrix|search)")


def documented(*pages):
    """Return the names that pages of the API reference list, module by module."""
    found, module = {}, ""
    lines = [line for page in pages for line in (DOCS / page).read_text("utf-8").splitlines()]
    for line in lines:
        if line.startswith(".. currentmodule:: "):
            module = line.split(":: ")[1]
        elif listed := re.fullmatch(r"(?:   |\.\. py:data:: )(\w+)", line):
            found.setdefault(module, []).append(listed[1])
    return found


def public(name):
    """Return the public names of a module: those listed, or those defined in it."""
    module = importlib.import_module(name)
    if hasattr(module, "__all__"):
        names = {n: getattr(module, n) for n in module.__all__}
        return {n for n, v in names.items() if not isinstance(v, ModuleType) and n[:2] != "__"}
    source = Path(module.__file__).read_text("utf-8")
    defined = re.findall(r"^(?:def|class) (\w+)|^(\w+)(?:: .*)? = ", source, re.MULTILINE)
    return {n for pair in defined for n in pair if n and not n.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_api_reference_lists_what_is_public(module):
    listed = documented(*API)[module]
    assert sorted(listed) == sorted(public(module))


def test_extension_points_are_on_a_page_of_their_own():
    users, extenders = (documented(page) for page in API)
    assert users["orthoselect.encode"] == ["encode_response"]
    assert users["orthoselect.methods"] == ["METHODS"]
    assert not list(filter(FOR_EXTENSIONS.match, users))
    assert "orthoselect" not in extenders
    for module, names in documented(*API).items():
        assert len(names) == len(set(names)), module


def test_api_reference_has_a_section_for_each_public_module():
    modules = {f"orthoselect.{n}" for n in orthoselect.__all__ if is_module(n)}
    assert modules | {"orthoselect"} == set(MODULES)
    assert set(MODULES) <= set(documented(*API))


def is_module(name):
    return isinstance(getattr(orthoselect, name), ModuleType)


def test_api_reference_names_errors_and_warnings():
    from orthoselect import errors

    kinds = {n for n, v in vars(errors).items() if isinstance(v, type) and n[0] != "_"}
    assert set(documented("api.md")["orthoselect.errors"]) == {
        n for n in kinds if is_error(errors, n)
    }


def is_error(errors, name):
    return issubclass(getattr(errors, name), BaseException)


def toctree_of(page):
    """Return the pages that the tables of contents of a page list; notebooks have none."""
    if (DOCS / f"{page}.ipynb").exists():
        return []
    text = (DOCS / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    entries = [line for line in lines if line and not line.startswith(":")]
    return [(Path(page).parent / entry).as_posix() for entry in entries]


def test_every_page_is_reached_from_the_first():
    seen, waiting = set(), ["index"]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        waiting += [] if page.startswith("gallery/") else toctree_of(page)
    notebooks = [*DOCS.glob("notebooks/*.ipynb")]
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in [*PAGES, *notebooks]}
    assert seen == pages | {"gallery/index"}


def test_no_page_takes_the_place_of_one_that_sphinx_makes():
    assert not {"search", "genindex", "py-modindex"} & {page.stem for page in PAGES}


def test_configuration_names_no_inventory_elsewhere():
    configuration = runpy.run_path(str(DOCS / "conf.py"))
    assert "sphinx.ext.intersphinx" not in configuration["extensions"]
    assert "intersphinx_mapping" not in configuration
    assert not configuration["sphinx_gallery_conf"].get("reference_url")
    assert "offline" in configuration["extensions"]


def slugs(page):
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


def links(page):
    """Return where the links and pictures of a page lead, within the repository."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text("utf-8")))
    found = re.findall(r"\]\(<?([^)>\s]+)>?\)", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for link in links(page):
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if target.parent == DOCS / "gallery":  # made from an example when the site is built
            target = ROOT / "examples" / target.with_suffix(".py").name
        assert target.exists(), f"{link}: there is no {target}"
        assert not anchor or anchor in slugs(target), f"{link}: no such heading in {target.name}"


def test_links_are_found():
    found = {page.name: links(page) for page in MARKDOWN}
    assert "docs/guide.md" in found["README.md"]
    assert "#the-same-in-python" in found["tutorial.md"]


def test_made_table_of_the_tutorial_is_the_one_stored():
    made = runpy.run_path(str(DOCS / "files" / "rentals.py"))["rentals"]()
    header, *rows = (DOCS / "files" / "rentals.csv").read_text("utf-8").splitlines()
    assert header == ",".join(made)
    assert rows == [",".join(map(str, row)) for row in zip(*made.values())]


IN_GALLERY = [p for p in sorted((ROOT / "examples").glob("*.py")) if p.name != "peers.py"]


@pytest.mark.parametrize("example", IN_GALLERY, ids=lambda path: path.name)
def test_examples_begin_with_a_title_for_the_gallery(example):
    _, title, line, blank, *_ = example.read_text("utf-8").splitlines()
    assert title
    assert line == "=" * len(title)
    assert not blank
