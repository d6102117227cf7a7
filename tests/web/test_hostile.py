"""Names and texts that attack the page, and the rules that the page lives under."""

import pathlib
import re

import fleets
import mock
from harness import opened, press, read, settled, shows, test, texts


@test
def hostile_names_are_text(browser):
    """Markup, scripts, names of JavaScript's own, marks of direction and 253 characters are shown
    as text, everywhere: no element comes from them, nothing runs, nothing breaks the page's
    width."""
    fleet = fleets.hostile()
    with opened(browser, fleet) as (_, page):
        assert sorted(read(page)["shown"]) == sorted(fleets.HOSTILE)
        assert sorted(texts(page, "#rows-body .name")) == sorted(fleets.HOSTILE)
        for mode in ("driver", "use", "health", "state"):
            page.eval(f"document.querySelector('[data-mode={mode}]').click()")
            settled(page)
        made = "document.querySelectorAll('main img, main script, #story img').length"
        assert page.eval(made) == 0
        assert page.eval("document.title").endswith("ready · Ostler")
        assert page.eval("document.documentElement.scrollWidth <= innerWidth")


@test
def hostile_nodes_have_stories(browser):
    """The story of a node with any name is asked for under that name, and shown as text."""
    fleet = fleets.hostile()
    with opened(browser, fleet) as (_, page):
        for name in fleets.HOSTILE:
            page.eval("[...document.querySelectorAll('#rows-body .name')]"
                      f".find((e) => e.textContent === {name!r}).click()")
            shows(page, "#story-body", f"{name} is Ready")
            assert page.eval("document.querySelectorAll('#story img, #story script').length") == 0
            page.key("Escape")


@test
def markup_is_refused_by_the_browser(browser):
    """With the page's headers, no script can make markup from text: Trusted Types throw."""
    with opened(browser, fleets.empty(), expect="TrustedHTML|Trusted Type|trusted") as (_, page):
        for attempt in ("document.body.innerHTML = '<b>x</b>'", "document.write('x')",
                        "eval('1')", "document.createElement('script').text = 'x'"):
            threw = page.eval("(() => { try { " + attempt + "; } catch (e) { return e.name; } })()")
            assert threw in ("TypeError", "EvalError"), (attempt, threw)
        page.log.clear()


@test
def the_page_is_small_and_needs_nothing_else(browser):
    """HTML 4, CSS 8, icon 2 KiB, all of it 60 KB as it is served, without the tabs that lines begin
    with (scripts/embed-web); no address of another host, no absolute one, and no way to make markup
    from text."""
    sizes = {
        file.name: len(re.sub(rb"(?m)^\t+", b"", file.read_bytes()))
        for file in mock.WEB.iterdir()
    }
    print("     " + ", ".join(f"{name} {size}" for name, size in sorted(sizes.items())),
          f"= {sum(sizes.values())}")
    assert sizes["index.html"] <= 4 << 10 and sizes["style.css"] <= 8 << 10
    assert sizes["icon.svg"] <= 2 << 10 and sum(sizes.values()) <= 60_000
    source = {file.name: file.read_text() for file in mock.WEB.iterdir()}
    for name, text in source.items():
        assert not re.search(r"""(src|href|from|import|fetch\()\s*=?\s*["'`]/""", text), name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name
        assert not re.search(r"[a-z]+erHTML|AdjacentHTML|document\.write|DOMParser|eval\(",
                             text), name
    asked = re.findall(r'(?:src|href)="([^"]+)"', source["index.html"])
    asked += [file for text in source.values() for file in re.findall(r'from "\./([^"]+)"', text)]
    assert set(asked) == set(source) - {"index.html"}, set(asked) ^ set(source)


@test
def the_page_works_under_a_prefix(browser):
    """All addresses are relative: behind the API server's proxy the page works under its path."""
    prefix = "/api/v1/namespaces/ostler-system/services/ostler:fleet/proxy"
    with mock.Server(fleets.rolling()) as server:
        server.prefix = prefix
        with browser.page(server.url.rstrip("/") + prefix + "/#node=h100-a01-01") as page:
            page.until("fleet.read().link === 'live'")
            shows(page, "#story-body", "h100-a01-01 is Ready")
            server.wait_for_stream()
            server.change({**server.fleet["nodes"]["h100-a01-01"], "state": "Lost"})
            shows(page, "#story-body", "is Lost")
            assert all(path.startswith(prefix + "/") for path, _ in server.asked), server.asked
            assert not page.log, page.log
