"""The connection: reconnecting, resets, standby and leader, silence."""

import fleets
import mock
from harness import opened, read, settled, shows, test, text, texts

# The page's clock jumps, as after a minute in which nothing came.
LATER = "Date.now = ((real) => () => real() + {} * 1000)(Date.now.bind(Date))"
BANNER = "#banner p"
ENDED = "ERR_|Failed to load resource|503"


def banner_is_hidden(page):
    page.until("document.getElementById('banner').hidden")


@test
def the_page_listens_from_its_snapshot_on(browser):
    """The stream begins after the snapshot's id, so that no change is lost between the two."""
    with opened(browser, fleets.rolling()) as (server, page):
        server.wait_for_stream()
        asked = [path for path, _ in server.asked if path.startswith("/events")]
        assert asked == ["/events?after=ostler-6d5c8f7b9-x2v4q-1"], asked
        assert text(page, "#link") == "as of 10:30:00 · live"


@test
def a_lost_connection_comes_back(browser):
    """When the stream ends, the browser opens it again, with the last id that it heard."""
    with opened(browser, fleets.rolling(), expect=ENDED) as (server, page):
        server.wait_for_stream()
        server.change({**server.fleet["nodes"]["h100-a01-01"], "state": "Lost"})
        page.until("fleet.cells().find(([name]) => name === 'h100-a01-01')[4] === 'gone'")
        server.cut()
        page.until("document.getElementById('link').className === 'waiting'")
        page.until("document.getElementById('link').className === 'live'")
        assert server.asked[-1] == ("/events?after=ostler-6d5c8f7b9-x2v4q-1",
                                    "ostler-6d5c8f7b9-x2v4q-2"), server.asked[-1]
        server.change({**server.fleet["nodes"]["h100-a01-01"], "state": "Ready"})
        page.until("fleet.cells().find(([name]) => name === 'h100-a01-01')[4] === 'ok'")


@test
def a_reset_fetches_the_fleet_anew(browser):
    """After a reset the page fetches the snapshot, and forgets what is not in it."""
    with opened(browser, fleets.rolling()) as (server, page):
        server.wait_for_stream()
        gone = list(server.fleet["nodes"])[:50]
        for name in gone:
            server.fleet["nodes"].pop(name)
        server.send("reset", {})
        page.until(f"fleet.read().nodes === {len(server.fleet['nodes'])}")
        settled(page)
        assert not set(gone) & set(read(page)["shown"])
        server.wait_for_stream()
        server.change({**server.fleet["nodes"]["l40s-c05-01"], "state": "Failed"})
        page.until("fleet.cells().find(([name]) => name === 'l40s-c05-01')[4] === 'bad'")


@test
def a_standby_names_the_leader_and_the_command(browser):
    """Before a standby the page says who leads and what to type, and goes on by itself when this
    one leads."""
    with mock.Server(fleets.rolling()) as server:
        server.lead_elsewhere("ostler-leader-1")
        with browser.page(server.url) as page:
            shows(page, BANNER, "ostler-leader-1 leads")
            assert texts(page, "#banner code") == [
                "kubectl port-forward -n ostler-system pod/ostler-leader-1 8081"]
            server.lead_elsewhere(False)
            page.until("fleet.read().link === 'live'", 8)
            banner_is_hidden(page)
            assert read(page)["nodes"] == len(server.fleet["nodes"])


@test
def a_change_of_leader_keeps_the_old_picture_grey(browser):
    """When another one begins to lead, the page says so and keeps what it knew, greyed."""
    with opened(browser, fleets.rolling(), expect=ENDED) as (server, page):
        server.wait_for_stream()
        server.lead_elsewhere("ostler-other-2")
        shows(page, BANNER, "ostler-other-2 leads")
        assert page.eval("document.body.className") == "stale"
        grey = "getComputedStyle(document.querySelector('main')).filter"
        assert page.eval(grey) == "grayscale(1)"
        assert read(page)["nodes"] == len(server.fleet["nodes"])
        server.fleet["holder"] = "ostler-new-3"
        server.lead_elsewhere(False)
        page.until("fleet.read().link === 'live'", 8)
        assert page.eval("document.body.className") == ""


@test
def no_leader_is_said_too(browser):
    """While no leader is known, the page says that, and no command."""
    with mock.Server(fleets.rolling()) as server:
        server.lead_elsewhere("")
        with browser.page(server.url) as page:
            shows(page, BANNER, "no leader is known yet")
            assert texts(page, "#banner code") == []


@test
def silence_greys_the_page(browser):
    """After 60 s without a word the page is grey and says since when; a word brings it back."""
    with opened(browser, fleets.rolling()) as (server, page):
        server.wait_for_stream()
        page.eval(LATER.format(55))
        page.eval("new Promise((done) => setTimeout(done, 1100))")
        assert page.eval("document.body.className") == ""
        server.answers.clear()
        page.eval(LATER.format(10))
        shows(page, BANNER, "No word from Ostler since 10:30:00, for 1 min")
        assert page.eval("document.body.className") == "stale"
        server.fleet["asOf"] = fleets.time_of(-65)
        server.answers.set()
        banner_is_hidden(page)
        assert page.eval("document.body.className") == ""


@test
def an_ostler_that_hears_nothing_greys_the_page(browser):
    """An Ostler that cannot watch the cluster answers with the time when it last could. To the
    page that is silence."""
    with opened(browser, fleets.rolling()) as (server, page):
        server.wait_for_stream()
        page.eval(LATER.format(61))
        page.until("page.link.kind === 'live' && page.link.triedAt > 0")
        server.send("beat", {"asOf": server.fleet["asOf"]})
        shows(page, BANNER, "No word from Ostler since 10:30:00, for 1 min")
        assert page.eval("document.body.className") == "stale"


@test
def a_silent_connection_is_opened_anew(browser):
    """After 60 s without a word the page asks for the fleet again: the connection may be dead."""
    with opened(browser, fleets.rolling()) as (server, page):
        server.wait_for_stream()
        server.fleet["asOf"] = fleets.time_of(-61)
        page.eval(LATER.format(61))
        page.until("document.getElementById('link').className === 'live'")
        assert [path for path, _ in server.asked].count("/fleet.json") == 1
        page.eval("new Promise((done) => setTimeout(done, 1200))")
        assert [path for path, _ in server.asked].count("/fleet.json") == 2


@test
def a_beat_is_a_word(browser):
    """A beat moves "as of", so that a quiet fleet does not look dead."""
    with opened(browser, fleets.rolling()) as (server, page):
        server.wait_for_stream()
        server.send("beat", {"asOf": fleets.time_of(-25)})
        shows(page, "#link", "as of 10:30:25 · live")


@test
def the_page_lives_without_a_stream(browser):
    """When all streams are taken, the page says so and shows the snapshot."""
    with mock.Server(fleets.rolling()) as server:
        server.full = True
        with browser.page(server.url) as page:
            page.until("fleet.read().link === 'waiting' && fleet.read().nodes > 0")
            assert read(page)["nodes"] == len(server.fleet["nodes"])
            assert text(page, "#link") == \
                "as of 10:30:00 · No stream is free: the page updates every 10 s"


@test
def an_ostler_that_is_away_is_said(browser):
    """A page that cannot reach Ostler says so, and tries again."""
    with opened(browser, fleets.rolling(), expect=ENDED) as (server, page):
        server.wait_for_stream()
        port = server.server_address[1]
        server.__exit__()
        page.until("document.getElementById('link').className === 'waiting'")
        page.eval(LATER.format(61))
        shows(page, BANNER, "No word from Ostler since 10:30:00")
        later = {**fleets.rolling(), "asOf": fleets.time_of(-65)}
        with mock.Server(later, port):
            page.until("fleet.read().link === 'live'", 20)
            banner_is_hidden(page)
