"""What a person does: filter, keys, address, table, story, copying."""

import fleets
from harness import PIXELS, opened, press, read, settled, shows, test, text, texts


@test
def words_filter_and_the_map_pales(browser):
    """Each word of the filter must be in a node; the other cells of the map pale."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (_, page):
        page.key("/")
        assert page.eval("document.activeElement.id") == "filter"
        page.type("l40s waiting")
        settled(page)
        shown = set(read(page)["shown"])
        wanted = {n for n, node in fleet["nodes"].items()
                  if "l40s" in n and node["state"] == "Waiting"}
        assert shown == wanted and wanted, shown
        drawn = page.eval(PIXELS)
        assert {n for n, tone in drawn.items() if tone} == wanted
        page.key("Escape")
        assert page.eval("document.activeElement.id") != "filter"
        press(page, "#clear")
        settled(page)
        assert len(read(page)["shown"]) == len(fleet["nodes"])
        assert page.eval("document.getElementById('filter').value") == ""


@test
def arrows_move_on_the_map_and_enter_opens(browser):
    """Arrows go to the next node in their direction, Enter opens its story, Esc closes it and the
    map has the focus again."""
    with opened(browser, fleets.rolling()) as (_, page):
        page.eval("document.getElementById('canvas').focus()")
        page.key("ArrowRight")
        for key, wanted in (("ArrowDown", "a10-a01-02"), ("ArrowRight", "a10-a02-02"),
                            ("ArrowUp", "a10-a02-01"), ("ArrowLeft", "a10-a01-01"),
                            ("ArrowLeft", "a10-a01-01")):
            page.key(key)
            shows(page, "#readout", wanted)
        page.key("Enter")
        page.until("!document.getElementById('story').hidden")
        assert page.eval("document.activeElement.id") == "story-title"
        shows(page, "#story-title", "a10-a01-01")
        page.key("Escape")
        page.until("document.getElementById('story').hidden")
        assert page.eval("document.activeElement.id") == "canvas"


@test
def arrows_and_enter_pass_over_pale_nodes(browser):
    """With a filter, arrows reach only the nodes that it shows, and Enter opens no other one."""
    with opened(browser, fleets.rolling()) as (_, page):
        page.eval("document.getElementById('canvas').focus()")
        page.key("ArrowRight")
        shows(page, "#readout", "a10-a01-01")
        page.eval("document.getElementById('filter').focus()")
        page.type("l40s")
        settled(page)
        page.eval("document.getElementById('canvas').focus()")
        page.key("Enter")
        assert page.eval("document.getElementById('story').hidden")
        for _ in range(8):
            page.key("ArrowDown")
        shows(page, "#readout", "l40s-")
        page.key("Enter")
        page.until("!document.getElementById('story').hidden")
        shows(page, "#story-title", "l40s-")
        page.key("Escape")
        for key in ("ArrowUp",) * 12:
            page.key(key)
        shows(page, "#readout", "l40s-")


@test
def a_click_on_a_cell_opens_its_node(browser):
    """A click on the middle of any cell opens that node."""
    fleet = fleets.rolling()
    for k in range(9, 21):  # a rack of three columns
        name = f"h100-a01-{k:02}"
        fleet["nodes"][name] = {**fleet["nodes"]["h100-a01-01"], "name": name}
    with opened(browser, fleet, height=1600) as (_, page):
        for name in ("h100-c06-08", "a10-a01-01", "l40s-b05-03", "h100-a01-18"):
            x, y = page.eval(f"""(() => {{
                const box = document.getElementById('canvas').getBoundingClientRect();
                const [, x, y] = fleet.cells().find(([name]) => name === '{name}');
                return [box.left + x + 5, box.top + y + 5];
            }})()""")
            page.click(x, y)
            shows(page, "#story-title", name)
            page.key("Escape")


@test
def the_address_holds_the_view(browser):
    """What is looked at is in the fragment, and the fragment brings it back: a link shows the
    same."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (server, page):
        press(page, "#modes button", "Driver")
        press(page, "#states .chip", "Waiting")
        press(page, "#rows-head button", "For")
        press(page, "#rows-head button", "For")
        press(page, "#rows-body .name", "l40s-a01-06")
        fragment = page.eval("location.hash")
        assert fragment == "#by=driver&sort=-since&node=l40s-a01-06&state=Waiting", fragment
        with browser.page(server.url + fragment) as other:
            other.until("fleet.read().nodes > 0 && fleet.read().shown.length === 3")
            assert read(other)["view"] == read(page)["view"]
            shows(other, "#story-title", "l40s-a01-06")
            assert read(other)["shown"][0] == "l40s-a02-01"
        page.eval("history.back()")
        page.until("document.getElementById('story').hidden")
        assert "node" not in page.eval("location.hash")


@test
def a_wrong_address_shows_the_fleet(browser):
    """A fragment with values that do not exist shows the fleet, and nothing fails."""
    fragment = "#by=constructor&sort=__proto__&node=gone&state=%ff&q=%"
    with opened(browser, fleets.rolling(), fragment) as (_, page):
        assert read(page)["view"]["by"] == "state"
        shows(page, "#story-state", "Ostler shows no such node")
        shows(page, "#story-body", "there is no node gone")
        page.log.clear()  # the browser logs the 404
    for word in ("valueOf", "__proto__"):
        with opened(browser, fleets.rolling(), f"#sort={word}") as (_, page):
            assert texts(page, "#rows-body tr:not(.space)"), word


@test
def rows_in_view_are_in_the_document(browser):
    """Of 5,000 rows the document has as many as the screen can show, and ten more on both sides;
    scrolling shows the others."""
    with opened(browser, fleets.large(), "#sort=name") as (_, page):
        rows = "[...document.querySelectorAll('#rows-body tr:not(.space)')]"
        limit = 30 + 2 * 10  # 1,000 px have 30 rows of 34 px
        assert page.eval(f"{rows}.length") == limit
        assert page.eval("document.querySelector('table').getAttribute('aria-rowcount')") == "5001"
        for part, wanted in ((0.5, "gpu-0312-4"), (1, "gpu-0624-7"), (0, "gpu-0000-0")):
            page.eval(f"""(() => {{
                const box = document.getElementById('rows');
                box.scrollTop = (box.scrollHeight - box.clientHeight) * {part};
            }})()""")
            page.until(f"""{rows}.some((row) => {{
                const a = row.getBoundingClientRect();
                const b = document.getElementById('rows').getBoundingClientRect();
                return row.firstChild.textContent === '{wanted}' && a.top < b.bottom &&
                    a.bottom > b.top;
            }})""")
            assert page.eval(f"{rows}.length") <= limit
            order = page.eval(f"{rows}.map((row) => +row.getAttribute('aria-rowindex'))")
            assert order == list(range(order[0], order[0] + len(order)))


@test
def the_table_sorts_by_each_column(browser):
    """A column's head sorts by it, once more the other way round, and says so."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (_, page):
        names = read(page)["shown"]
        assert names[0] == "h100-c01-05", "what needs a look comes first"
        for title, field in (("Node", "name"), ("In use", "used"), ("Pool", "pool")):
            for direction in ("ascending", "descending"):
                press(page, "#rows-head button", title)
                settled(page)
                values = [fleet["nodes"][n][field] for n in read(page)["shown"]]
                assert values == sorted(values, reverse=direction == "descending"), (title, values)
                assert page.eval(f"document.querySelector('[data-member={field}]')"
                                 ".getAttribute('aria-sort')") == direction


@test
def the_story_tells_what_explain_tells(browser):
    """The story of a node has its faults, what it waits for, what is next, its GPUs and its
    history, and the text of kubectl gpu explain."""
    with opened(browser, fleets.rolling(), "#node=h100-b02-06") as (server, page):
        shows(page, "#story-body .fault", "Xid79 · Reboot · Closed")
        gpus = texts(page, ".gpus li")
        assert len(gpus) == 8 and "Silent, Xid 79 × 2" in gpus[0], gpus
        assert page.eval("document.querySelectorAll('.gpus b').length") == 1
        history = texts(page, ".history li")
        assert "10:05:00Xid 79 (GPU has fallen off the bus), 2 times14 min" in history, history
        assert text(page, "#story-body pre") == \
            server.fleet["story"](server.fleet, "h100-b02-06")["text"]
        press(page, "#story-close")
        press(page, "#rows-body .name", "l40s-a01-05")
        shows(page, "#story-body", "Job ml-team/pretrain-llm-7")
        shows(page, "#story-body", "Draining: when the job has ended in 1 h")


@test
def the_story_follows_its_node(browser):
    """When the node changes, its open story is fetched anew."""
    with opened(browser, fleets.rolling(), "#node=h100-a01-01") as (server, page):
        shows(page, "#story-body", "h100-a01-01 is Ready")
        server.wait_for_stream()
        server.change({**server.fleet["nodes"]["h100-a01-01"], "state": "Lost"})
        shows(page, "#story-body", "h100-a01-01 is Lost")
        shows(page, "#story-state", "Lost")


@test
def a_button_copies_a_command(browser):
    """Each command of the story has a button that copies it, and says so."""
    with opened(browser, fleets.rolling(), "#node=h100-b02-06") as (_, page):
        shows(page, "#story-body", "kubectl gpu repair h100-b02-06")
        press(page, ".command:nth-of-type(3) button")
        shows(page, ".command:nth-of-type(3) button", "Copied")
        assert page.eval("navigator.clipboard.readText()") == "kubectl gpu repair h100-b02-06"
