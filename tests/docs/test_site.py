#!/usr/bin/python3
"""The site of the documents, as `make docs` makes it: every page and every link is there, nothing
comes from a network, and the search knows every page. Prints "site: N passed, N failed".

    tests/docs/test_site.py         skips where mdBook was not built yet
    tests/docs/test_site.py --make  builds it, which takes some minutes once (`make docs`)
"""

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

import pages

ROOT = pages.ROOT
SITE = ROOT / "build" / "site"
# mdBook's own pages beside those of the book; 404.html has its links from the root of a server.
OWN = ("404.html", "toc.html")
# Links that lead out, as a click; all else that a page names it loads.
CLICKS = {("a", "href")}


class Page(html.parser.HTMLParser):
    """The identifiers and the addresses of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.addresses = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src", "srcset") and value:
                self.addresses.append((tag, name, value))


def built():
    """The pages of the site by their paths."""
    return {p: Page(p) for p in sorted(SITE.rglob("*.html")) if p.name not in OWN}


def place(page):
    """Where the site has a page of the repository."""
    path = SITE / page
    return path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")


def every_page(site):
    """The site has every page of the documents."""
    return [f"{page} is not there" for page in pages.PAGES if place(page) not in site]


def links(site):
    """Links lead to a file, and to a heading in it."""
    problems = []
    for path, page in site.items():
        for _, _, address in page.addresses:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve()
            target = target if parts.path else path
            there = target.is_file()
            if there and parts.fragment and target.suffix == ".html":
                there = target.name in OWN or parts.fragment in site[target].ids
            if not there:
                problems.append(f"{path.relative_to(SITE)}: {address} is not there")
    return problems


def network(site):
    """No page loads anything from a network, and no style does."""
    problems = [
        f"{path.relative_to(SITE)}: <{tag} {name}> loads {address}"
        for path, page in site.items()
        for tag, name, address in page.addresses
        if urllib.parse.urlsplit(address).netloc and (tag, name) not in CLICKS
    ]
    return problems + [
        f"{path.relative_to(SITE)} loads {address}"
        for path in sorted(SITE.rglob("*.css"))
        for address in re.findall(r"(?:url\(|@import )['\"]?(https?:[^'\")]+)", path.read_text())
    ]


def search(site):
    """The index of the search is a script, which a page loads from the disk too, and has every
    page."""
    (path,) = SITE.glob("searchindex*.js")
    text = path.read_text(encoding="utf-8")
    quoted = re.search(r"JSON\.parse\('(.*)'\)", text, re.DOTALL)[1]
    index = json.loads(re.sub(r"\\(['\\])", r"\1", quoted))
    known = {SITE / url.partition("#")[0] for url in index["doc_urls"]}
    return [f"the search lacks {p.relative_to(SITE)}" for p in site if p not in known]


def main():
    """Builds the site and runs all checks."""
    wanted = [] if "--make" in sys.argv else ["--where"]
    mdbook = subprocess.run(
        [ROOT / "scripts/find-mdbook", *wanted], check=False, stdout=subprocess.PIPE, text=True
    )
    if mdbook.returncode and wanted:
        print("SKIPPED site: mdBook was not built on this machine yet (make docs)")
        print("site: 0 passed, 0 failed")
        return 0
    if mdbook.returncode:
        return 1
    made = subprocess.run([ROOT / "scripts/build-site", mdbook.stdout.strip()], check=False)
    failed = 1 if made.returncode else 0
    checks = [] if failed else [every_page, links, network, search]
    site = built() if checks else {}
    for check in checks:
        problems = check(site)
        if problems:
            failed += 1
            print("FAIL " + " ".join(check.__doc__.split()))
            print("\n".join(f"     {problem}" for problem in problems))
    print(f"site: {1 + len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
