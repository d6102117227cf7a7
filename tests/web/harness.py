"""What the tests of the fleet page have in common: the list of tests, one browser, pages of fleets,
what the map shows in its pixels."""

import contextlib
import re
import sys
import time
import traceback

import mock

TESTS = []
# What the tests read of the page.
HELP = """window.fleet = {
  read: () => window.page ? {...page.scene.drawn, view: {...page.view}, link: page.link.kind,
    nodes: page.fleet.nodes.size, scale: page.scene.scale, size: page.scene.drawn?.placed.size,
    placed: 0, there: page.scene.drawn?.placed.cells.size,
    shown: page.scene.drawn?.shown.map(({name}) => name)} : {},
  node: (name) => page.fleet.nodes.get(name),
  cells: () => [...page.scene.drawn.placed.cells].map(([name, [x, y]]) => [name, x + 3, y + 3,
    ...page.lookNow(page.fleet.nodes.get(name)).slice(0, 2)]),
};"""
LIVE = ("fleet.read().link === 'live' && fleet.read().nodes === {} && "
        "fleet.read().there === fleet.read().nodes")
# What the browser says about the tests themselves.
USUAL = "willReadFrequently"

# The theme's colours as the page has them now: name → [red, green, blue].
PALETTE = """Object.fromEntries('ok bad sick wait work gone use none quiet'.split(' ')
  .map((name) => {
    const text = getComputedStyle(document.body).getPropertyValue('--' + name).trim();
    return [name, [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16))];
  }))"""

# Which of these colours most pixels of each cell have: name → colour; null: none of them.
TONES = """(pixels, width, cells, side, scale, palette) => Object.fromEntries(cells.map((cell) => {
  const [name, x, y] = cell;
  const votes = {};
  for (let dy = 1; dy < side * scale - 2; dy++) for (let dx = 1; dx < side * scale - 2; dx++) {
    const at = 4 * ((Math.round(y * scale) + dy) * width + Math.round(x * scale) + dx);
    if (pixels[at + 3] < 200) continue;
    for (const [tone, wanted] of Object.entries(palette))
      if (wanted.every((part, k) => Math.abs(part - pixels[at + k]) < 5))
        votes[tone] = (votes[tone] ?? 0) + 1;
  }
  return [name, Object.keys(votes).sort((a, b) => votes[b] - votes[a])[0] ?? null];
}))"""

# The colours of the map's cells.
PIXELS = f"""(() => {{
  const canvas = document.getElementById('canvas'), {{size, scale}} = fleet.read();
  const {{data}} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return ({TONES})(data, canvas.width, fleet.cells(), size, scale, {PALETTE});
}})()"""


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


@contextlib.contextmanager
def opened(browser, fleet, fragment="", expect=None, **options):
    """Serves a fleet and opens the page, until it is live. At the end the browser must have
    complained about nothing, apart from what `expect` matches."""
    with mock.Server(fleet) as server:
        with browser.page(server.url + fragment, **options) as page:
            try:
                page.until(LIVE.format(len(fleet["nodes"])))
            except AssertionError as problem:
                raise AssertionError(f"{problem}; {page.log}") from None
            yield server, page
            page.eval("0")
            fine = f"{USUAL}|{expect}" if expect else USUAL
            bad = [entry for entry in page.log if not re.search(fine, entry)]
            assert not bad, bad


def read(page):
    return page.eval("fleet.read()")


def text(page, selector):
    return page.eval(f"document.querySelector({selector!r}).textContent")


def texts(page, selector):
    return page.eval(f"[...document.querySelectorAll({selector!r})].map((e) => e.textContent)")


def shows(page, selector, words, timeout=10):
    """Waits until an element has these words."""
    page.until(f"(document.querySelector({selector!r})?.textContent ?? '').includes({words!r})",
               timeout)


def press(page, selector, words=None):
    """Clicks the first element of a selector that has these words."""
    page.eval(f"[...document.querySelectorAll({selector!r})]"
              f".find((e) => {words is None and 'true' or f'e.textContent.includes({words!r})'})"
              ".click()")


def settled(page):
    """Waits for the frame that draws what was changed."""
    page.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def counted(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def run(browser_of):
    """Runs the tests whose name has one of the words of the command line. A browser that does not
    answer is started again for the next test."""
    failed, began = 0, time.monotonic()
    wanted = [one for one in TESTS
              if len(sys.argv) < 2 or any(word in one.__name__ for word in sys.argv[1:])]
    with browser_of() as browser:
        for one in wanted:
            about, since = " ".join(one.__doc__.split()), time.monotonic()
            try:
                one(browser)
                print(f"ok   {one.__name__} ({time.monotonic() - since:.1f} s): {about}")
            except Exception as e:  # pylint: disable=broad-except
                failed += 1
                places = traceback.extract_tb(e.__traceback__)
                places = ", ".join(f"line {place.lineno}" for place in places)
                print(f"FAIL {one.__name__} ({places}): {about}\n     {type(e).__name__}: {e}")
    print(f"web: {len(wanted) - failed} passed, {failed} failed")
    print(f"-- {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if failed else 0
