"""Whether everyone can use the page: screen readers, keyboards, small screens, themes."""

import pathlib
import subprocess

import fleets
from harness import opened, read, settled, shows, test, text

ROOT = pathlib.Path(__file__).resolve().parents[2]


def axe():
    """The rules as a script, or None where they cannot be fetched."""
    found = subprocess.run([ROOT / "scripts" / "find-axe"], text=True, capture_output=True)
    return pathlib.Path(found.stdout.strip()).read_text() if found.returncode == 0 else None


def violations(page):
    """What axe-core finds, in short."""
    settled(page)
    result = page.eval("""axe.run({resultTypes: ['violations']}).then(({violations}) =>
        violations.map(({id, help, nodes}) => `${id}: ${help}: ` + nodes.slice(0, 3).map(
            ({target, any}) => `${target} ${any[0]?.message ?? ''}`).join('; ')))""")
    return result


@test
def axe_finds_nothing(browser):
    """axe-core's rules hold: light and dark, with a filter, an open story, on a small screen."""
    rules = axe()
    if not rules:
        print("SKIPPED axe: axe-core cannot be fetched")
        return
    dark = {"media": [("prefers-color-scheme", "dark")]}
    for options, fragment in (({}, "#by=driver&state=Waiting"), ({"width": 320}, "#state=Waiting"),
                              (dark, "#by=health&node=h100-b02-06&state=Unhealthy")):
        with opened(browser, fleets.rolling(), fragment, **options) as (_, page):
            if "node=" in fragment:
                page.until("!!document.querySelector('#story-body details')")
            page.eval(rules + "; 0")
            found = violations(page)
            assert not found, (options, fragment, found)


@test
def a_screen_reader_finds_names_and_roles(browser):
    """The accessibility tree has the map with its counts, the table with its rows, filters that are
    pressed or not, and the story as a named dialog."""
    with opened(browser, fleets.rolling(), "#node=h100-b02-06") as (_, page):
        shows(page, "#story-body", "has fallen off the bus")
        tree = page.call("Accessibility.getFullAXTree")["nodes"]
        named = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree
                 if not n["ignored"] and "role" in n]
        roles = {}
        for role, name in named:
            roles.setdefault(role, []).append(name)
        assert any(name.startswith("Map of 258 nodes by State: 1 Failed, 2 Unhealthy") for name in
                   roles["image"] + roles.get("img", [])), roles.get("image")
        assert roles["table"] == ["Nodes 258 of 258"], roles["table"]
        assert roles["dialog"] == ["h100-b02-06"], roles["dialog"]
        assert "Copy kubectl gpu repair h100-b02-06" in roles["button"]
        assert {"Rollout", "Waits for", "GPU faults 3"} <= set(roles["heading"]), roles["heading"]
        wanted = {"columnheader", "rowheader", "main", "banner", "searchbox"}
        assert wanted <= set(roles), set(roles)
        assert "" not in roles["button"], "a button without a name"


@test
def everything_is_reached_by_tab(browser):
    """Tab goes through modes, map, lists, filter and table; the focus is always visible."""
    with opened(browser, fleets.rolling()) as (_, page):
        seen = []
        for _ in range(90):
            page.key("Tab")
            seen.append(page.eval("""(() => {
                const one = document.activeElement, style = getComputedStyle(one);
                return [one.id || one.className || one.tagName, style.outlineStyle];
            })()"""))
        assert {"canvas", "filter", "chip", "name", "rows"} <= {name for name, _ in seen}, seen
        assert all(outline != "none" for name, outline in seen if name != "BODY"), seen


@test
def the_sentence_is_read_out_at_most_every_ten_seconds(browser):
    """Screen readers hear the policy's sentence once it has changed, but not each change of a busy
    rollout."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (server, page):
        page.until("document.getElementById('announce').textContent !== ''")
        server.wait_for_stream()
        for k in range(3):
            server.send("policy", {"asOf": fleet["asOf"],
                                   "policy": {**fleet["policy"], "message": f"change {k}"}})
        shows(page, "#message", "change 2")
        page.eval("new Promise((done) => setTimeout(done, 1200))")
        assert "change" not in text(page, "#announce")
        page.eval("Date.now = ((real) => () => real() + 11000)(Date.now.bind(Date))")
        shows(page, "#announce", "change 2", 4)


@test
def dark_and_light_follow_the_system(browser):
    """Page and map have other colours in the dark, and change when the system changes."""
    with opened(browser, fleets.rolling()) as (_, page):
        def colours():
            settled(page)
            x, y = page.eval("fleet.cells().find(([name]) => name === 'h100-a01-01').slice(1, 3)")
            return (page.eval("getComputedStyle(document.body).backgroundColor"), page.eval(
                "[...document.getElementById('canvas').getContext('2d')"
                f".getImageData({x + 8}, {y + 8}, 1, 1).data].join()"))
        light = colours()
        page.media(("prefers-color-scheme", "dark"))
        dark = colours()
        assert light == ("rgb(244, 246, 248)", "42,157,124,255"), light
        assert dark == ("rgb(13, 17, 23)", "47,163,131,255"), dark


@test
def nothing_moves(browser):
    """Nothing pulses and nothing slides, whatever the system asks for."""
    with opened(browser, fleets.rolling(), "#node=h100-b02-06") as (_, page):
        assert page.eval("document.getAnimations().length") == 0


@test
def small_screens_have_counters_for_the_map(browser):
    """At 320 px and at 200 % zoom nothing is wider than the screen; at 320 px each group has
    counters that filter, in place of the map."""
    with opened(browser, fleets.rolling(), width=320, height=640) as (server, page):
        assert page.eval("document.documentElement.scrollWidth") <= 320
        assert page.eval("getComputedStyle(document.getElementById('room')).display") == "none"
        groups = page.eval("[...document.querySelectorAll('#groups button')].map((b) => "
                           "b.textContent)")
        assert len(groups) == 7 and groups[0] == "dev-a10 · eu-west-1a1 Lost · 20 Ready · " \
            "3 ForeignStack", groups
        server.wait_for_stream()
        server.change({**server.fleet["nodes"]["a10-a01-01"], "state": "Failed"})
        shows(page, "#groups button", "1 Failed · 1 Lost · 19 Ready")
        page.eval("document.querySelectorAll('#groups button')[1].click()")
        settled(page)
        assert len(read(page)["shown"]) == 30
        page.eval("fleet && (location.hash = '#node=h100-b02-06')")
        shows(page, "#story-body", "has fallen off the bus")
        assert page.eval("document.documentElement.scrollWidth") <= 320
    with opened(browser, fleets.rolling(), width=720, height=500, scale=2) as (_, page):
        assert page.eval("document.documentElement.scrollWidth") <= 720
        assert page.eval("document.getElementById('canvas').width") > 720
