#!/usr/bin/python3
"""Draws the pictures of the fleet page for the documents, docs/images/fleet-light.png and
fleet-dark.png, from a fleet of some 260 nodes in a rollout with faults of GPUs (fleets.py).
`make screenshots` runs it."""

import base64
import json
import pathlib
import sys
import tempfile

import browser as browsers
import fleets
import mock
from harness import HELP, LIVE, PALETTE, TONES, counted, settled

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "images"
THEMES = ("light", "dark")
SIZE = {"width": 1400, "height": 930}


def take(browser, theme, path):
    """Takes the picture of a theme. Returns where the map's cells are in it, and the colours."""
    fleet = fleets.rolling()
    media = [("prefers-color-scheme", theme), ("prefers-reduced-motion", "reduce")]
    with mock.Server(fleet) as server, browser.page(server.url, media=media, **SIZE) as page:
        page.until(LIVE.format(len(fleet["nodes"])))
        settled(page)
        page.screenshot(path)
        cells = page.eval("""(() => {
            const {left, top} = document.getElementById('canvas').getBoundingClientRect();
            return fleet.cells().map(([name, x, y]) => [name, x + left, y + top]);
        })()""")
        return cells, page.eval("fleet.read().size"), page.eval(PALETTE)


def count(browser, path, cells, size, palette):
    """How many cells have each colour in a picture. Cells below its edge do not count."""
    picture = base64.b64encode(pathlib.Path(path).read_bytes()).decode()
    seen = [cell for cell in cells if cell[2] + size < SIZE["height"]]
    with browser.page("about:blank", permissions=False) as page:
        return counted(page.eval(f"""(async () => {{
            const answer = await fetch('data:image/png;base64,{picture}');
            const image = await createImageBitmap(await answer.blob());
            const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
            pen.drawImage(image, 0, 0);
            const {{data}} = pen.getImageData(0, 0, image.width, image.height);
            return ({TONES})(data, image.width, {json.dumps(seen)}, {size}, 1,
                {json.dumps(palette)});
        }})()""").values())


def compare(browser):
    """For each picture: name, colours of a new one, colours of the stored one, size in bytes."""
    for theme in THEMES:
        stored = IMAGES / f"fleet-{theme}.png"
        with tempfile.NamedTemporaryFile(suffix=".png") as fresh:
            where = take(browser, theme, fresh.name)
            yield (stored.name, count(browser, fresh.name, *where), count(browser, stored, *where),
                   stored.stat().st_size)


def main():
    program = browsers.find()
    if not program:
        sys.exit("screenshots: there is no chromium-headless-shell: run make deps")
    IMAGES.mkdir(exist_ok=True)
    with browsers.Browser(program, HELP) as browser:
        for theme in THEMES:
            path = IMAGES / f"fleet-{theme}.png"
            take(browser, theme, path)
            print(f"{path.relative_to(IMAGES.parents[1])}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
