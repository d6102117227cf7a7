"""What is drawn, against the data that the page got."""

import json
import pathlib
import time

import fleets
from harness import PIXELS, counted, opened, press, read, settled, shows, test, text, texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "fleet"

TONES = {"Ready": "ok", "Failed": "bad", "Unhealthy": "sick", "Lost": "gone", "Waiting": "wait",
         "Draining": "wait", "Unloading": "wait", "Installing": "work", "Validating": "work",
         "ForeignStack": "gone"}
STATES = ("Unmanaged", "Discovered", "Installing", "Waiting", "Draining", "Unloading", "Resetting",
          "Rebooting", "Validating", "Ready", "Unhealthy", "Failed", "Lost", "ForeignStack",
          "Unsupported", "Removing")


@test
def each_node_has_a_cell_in_the_colour_of_its_state(browser):
    """The map has a cell for each node, and its pixels have the colour of the node's state."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (_, page):
        drawn = page.eval(PIXELS)
        wanted = {name: TONES[node["state"]] for name, node in fleet["nodes"].items()}
        assert drawn == wanted, {n: (drawn.get(n), wanted[n]) for n in wanted
                                 if drawn.get(n) != wanted[n]}


@test
def the_cells_of_5000_nodes_have_their_colours(browser):
    """Also at the smallest size, the cells of each colour are as many as the nodes."""
    fleet = fleets.large()
    with opened(browser, fleet, scale=2) as (_, page):
        drawn = counted(page.eval(PIXELS).values())
        assert drawn == counted(TONES[node["state"]] for node in fleet["nodes"].values()), drawn


@test
def every_state_has_a_shape_and_a_word_of_its_own(browser):
    """No two states of one colour have the same shape, so that colour alone never tells them
    apart."""
    nodes = {state: {**fleets.node(state, "p", None, None, "H100", 8, 1, 5), "state": state}
             for state in STATES}
    with opened(browser, {**fleets.empty(), "nodes": nodes}) as (_, page):
        looks = {name: (shape, tone) for name, _, _, shape, tone in page.eval("fleet.cells()")}
        assert len(set(looks.values())) == len(STATES), looks
        chips = texts(page, "#states .chip")
        assert all(any(state in chip for chip in chips) for state in STATES), chips


@test
def the_map_by_driver_counts_versions(browser):
    """By driver, each version has a colour, the newest the first one; the legend counts them."""
    fleet = fleets.rolling()
    with opened(browser, fleet, "#by=driver") as (_, page):
        versions = counted(node["driver"] for node in fleet["nodes"].values())
        drawn = counted(page.eval(PIXELS).values())
        assert drawn == {"ok": versions[fleets.NEW], "wait": versions[fleets.OLD],
                         "gone": versions[None]}, drawn
        assert texts(page, "#legend .chip") == [
            f"{versions[fleets.NEW]}{fleets.NEW}", f"{versions[fleets.OLD]}{fleets.OLD}",
            f"{versions[None]}none"]


@test
def the_map_by_use_fills_cells_by_the_share_of_gpus_in_use(browser):
    """By use, a cell is filled from the bottom by the share of the node's GPUs that pods have."""
    fleet = fleets.rolling()
    fleet["nodes"]["h100-a01-01"].update(gpus=6, used=1)  # a little more than an eighth
    with opened(browser, fleet, "#by=use") as (_, page):
        for name, _, _, shape, _ in page.eval("fleet.cells()"):
            node = fleet["nodes"][name]
            if node["state"] in ("Lost", "ForeignStack"):
                assert shape == "hollow", (name, shape)
            else:
                assert shape == f"gauge{-(-8 * node['used'] // node['gpus'])}", (name, shape)


@test
def the_map_by_health_shows_closed_and_faulty_nodes(browser):
    """By health, closed nodes and nodes with a faulty GPU stand out; nothing else does."""
    fleet = fleets.rolling()
    with opened(browser, fleet, "#by=health") as (_, page):
        drawn = page.eval(PIXELS)
        wanted = {n for n, node in fleet["nodes"].items() if node["bad"]}
        assert {n for n, tone in drawn.items() if tone == "sick"} == wanted
        assert texts(page, "#legend .chip") == ["2closed", "1faulty", "4unknown", "251healthy"]


@test
def a_change_is_drawn_at_once_and_moves_nothing(browser):
    """A node's new state is on the map within 400 ms, and every node keeps its place."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (server, page):
        before = {c[0]: c[1:3] for c in page.eval("fleet.cells()")}
        server.wait_for_stream()
        began = time.monotonic()
        server.change({**fleet["nodes"]["h100-a01-01"], "state": "Failed", "reason": "Boom"})
        page.until("fleet.cells().find(([name]) => name === 'h100-a01-01')[4] === 'bad'", 5)
        took = time.monotonic() - began
        settled(page)
        assert page.eval(PIXELS)["h100-a01-01"] == "bad"
        assert {c[0]: c[1:3] for c in page.eval("fleet.cells()")} == before
        assert took < 0.4 * 5, f"{took:.2f} s"  # five times as long on a busy machine


@test
def nodes_come_and_go(browser):
    """A node that came or went does so in the map, the chips and the table."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (server, page):
        server.wait_for_stream()
        new = {**fleet["nodes"]["h100-a01-01"], "name": "h100-a01-09", "state": "Discovered"}
        server.change(new, removed=["h100-a01-02"])
        page.until("fleet.read().shown.includes('h100-a01-09')")
        settled(page)
        state = read(page)
        assert state["nodes"] == len(fleet["nodes"]) and "h100-a01-02" not in state["shown"]
        names = {cell[0] for cell in page.eval("fleet.cells()")}
        assert "h100-a01-09" in names and "h100-a01-02" not in names
        assert "1Discovered" in texts(page, "#states .chip")


@test
def the_headline_is_the_policys(browser):
    """The sentence is the policy's message; the figures are sums over the nodes."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (server, page):
        nodes = fleet["nodes"].values()
        ready = [node for node in nodes if node["state"] == "Ready"]
        assert text(page, "#message") == fleet["policy"]["message"]
        assert text(page, "#verdict") == "Not ready"
        figures = texts(page, "#figures > .card")
        gpus = sum(node["gpus"] for node in nodes)
        usable = sum(node["gpus"] - node["bad"] for node in ready)
        served = [node for node in nodes if node["state"] != "ForeignStack"]
        assert 0 < len(served) < len(nodes)
        assert f" of {len(served)} nodes: " in text(page, "#message")
        assert figures[0] == f"{len(ready)}of {len(served)}, 95 %nodes ready", figures
        assert figures[1] == f"{usable:,}of {gpus:,}, 96 %GPUs in service", figures
        assert figures[3].startswith("141of 253, 55 %"), figures
        assert figures[4].startswith("3"), figures
        server.wait_for_stream()
        server.send("policy", {"asOf": fleet["asOf"], "policy": {
            **fleet["policy"], "ready": "False", "message": "Everything is on fire."}})
        shows(page, "#message", "Everything is on fire.")
        assert text(page, "#verdict") == "Not ready"


# The rails: the pool, and each step's classes and title.
RAILS = """[...document.querySelectorAll('#rails > li')].map((pool) => [pool.firstChild.textContent,
  ...[...pool.querySelectorAll('li')].map((step) =>
    `${step.className}: ${step.firstChild.textContent}`)])"""


def rails(page):
    """The steps of each pool."""
    return {name: steps for name, *steps in page.eval(RAILS)}


@test
def each_pool_has_a_rail(browser):
    """Each pool has the canary and the waves that have nodes of it, with a tick and a state for
    each node that the plan names, and last the nodes under way of waves that the plan does not
    name. A failed wave is red."""
    fleet = fleets.rolling()
    fleet["nodes"]["h100-a01-03"]["state"] = "Lost"  # its wave is done without it
    with opened(browser, fleet) as (_, page):
        assert rails(page) == {
            "train-h100": ["canary done: Canary, wave 1 of 34", "wave done: Wave 2 of 34",
                           "wave failed: Wave 3 of 34", "more active: Later waves"],
            "infer-l40s": ["wave active: Wave 4 of 34", "wave pending: Wave 5 of 34",
                           "more active: Later waves"],
            "dev-a10": []}, rails(page)
        assert page.eval("document.querySelectorAll('#rails .failed button').length") == 5
        assert texts(page, "#rails .failed p") == ["not before 08:07:00", "and 3 nodes more"]
        assert page.eval("[...document.querySelectorAll('#rails .more button')].map((one) =>"
                         "one.title)") == [
            "h100-c06-08: Validating", "l40s-a01-01: Installing", "l40s-a02-01: Waiting"]
        shows(page, "#rollout-sums", "141 done · 5 under way · 1 failed · 3 waiting for jobs")
        shows(page, "#rollout-sums", " · 34 waves over all pools · ends about ")


@test
def a_pool_without_nodes_is_not_shown(browser):
    """A pool of the policy that has no nodes has no line; the others say how far they are."""
    with opened(browser, fleets.rolling()) as (_, page):
        assert texts(page, "#rails > li > span") == [
            "580.178.04 · 141 of 144 nodes · 1 failed", "580.178.04 · 0 of 90 nodes",
            "580.178.04 · 0 of 24 nodes"], texts(page, "#rails > li > span")
        assert "spare" not in text(page, "#rails")
    fleet = fleets.rolling()
    fleet["policy"]["pools"] = [{**pool, "nodes": 0} for pool in fleet["policy"]["pools"]]
    with opened(browser, fleet) as (_, page):
        assert text(page, "#rails") == ""


@test
def a_wave_of_two_pools_is_in_both_rails(browser):
    """A step has the nodes of its pool, and the state of these."""
    fleet = fleets.rolling()
    fleet["policy"]["rollout"]["plan"]["waves"] = [
        fleets.wave(["h100-a01-01", "h100-a01-02", "l40s-a03-01", "a10-a01-01", "gone"])]
    with opened(browser, fleet) as (_, page):
        assert {name: steps[0] for name, steps in rails(page).items()} == {
            "train-h100": "wave done: Wave 1 of 34", "infer-l40s": "wave pending: Wave 1 of 34",
            "dev-a10": "wave pending: Wave 1 of 34"}, rails(page)
        assert page.eval("[...document.querySelectorAll('#rails .wave')].map((step) =>"
                         "step.querySelectorAll('button').length)") == [2, 1, 1]


# How many ticks a pool has of each tone on the line of time, and the spans of windows.
TICKS = """[...document.querySelectorAll('#rails > li')[%d].querySelectorAll('.track path')]
  .map((path) => [path.style.getPropertyValue('--tone').slice(6, -1),
   (path.getAttribute('d').match(/M0|M1|M-/g) ?? []).length])"""


@test
def a_node_has_a_tick_when_it_was_done_or_failed(browser):
    """The line of a pool has the windows, where its waves begin, a tick for each node that was done
    since the plan, one in red for each that failed, and now."""
    fleet = fleets.rolling()
    began = fleets.second(5 * 3600)
    done = len({f"{(node['since'] - began) / 6.5 / 3600:.3f}" for node in fleet["nodes"].values()
                if node["driver"] == fleets.NEW and node["state"] == "Ready"
                and node["since"] >= began})  # a thousandth of the line has one tick
    with opened(browser, fleet) as (_, page):
        ticks = dict(page.eval(TICKS % 0))
        assert ticks == {"gone": 8, "work": 3, "quiet": 1, "ok": done, "bad": 1, "ink": 1}, ticks
        assert dict(page.eval(TICKS % 1)) == {**ticks, "work": 2, "ok": 0, "bad": 0}
        bad = page.eval("document.querySelectorAll('.track')[0].querySelector('[style*=bad]')"
                        ".getAttribute('d')")
        assert bad == "M0.731 0v1", bad  # at 10:15 between 05:30 and 12:00


@test
def a_new_node_is_not_under_way(browser):
    """A node that was at work before the plan was made has not begun its wave."""
    fleet = fleets.rolling()
    fleet["nodes"]["l40s-a03-01"].update(state="Installing", since=fleets.second(6 * 3600))
    with opened(browser, fleet) as (_, page):
        assert "wave pending: Wave 5 of 34" in rails(page)["infer-l40s"], rails(page)


@test
def soaks_and_windows_say_until_when(browser):
    """A soak is a step of the pools that have a wave behind them and nodes to come, a closed window
    one of all pools that have nodes to come, with the time at which they end."""
    fleet = fleets.rolling()
    rollout, node = fleet["policy"]["rollout"], fleet["nodes"]["h100-a05-01"]
    rollout.update(reason="Soaking", until=fleets.time_of(-600))
    node.update(driver=fleets.OLD, since=fleets.second(86400))
    with opened(browser, fleet) as (server, page):
        assert rails(page)["train-h100"][2:4] == ["soak active: Soak", "wave failed: Wave 3 of 34"]
        assert len(texts(page, "#rails .soak")) == 1
        assert "until 10:40:00 · in" in text(page, "#rails .soak"), text(page, "#rails .soak")
        server.wait_for_stream()
        server.change({**node, "driver": fleets.NEW})  # nothing is to come in that pool
        page.until("!document.querySelector('#rails .soak')")
        rollout["reason"] = "WaitingForWindow"
        server.send("policy", {"asOf": fleet["asOf"], "policy": fleet["policy"]})
        shows(page, "#rails .window", "No window is open")
        assert [name for name, steps in rails(page).items()
                if "window active: No window is open" in steps] == ["infer-l40s", "dev-a10"]


@test
def a_held_node_has_a_bar_and_a_word(browser):
    """A node in service that a user holds has a bar on the map, and a counter of its own; another
    state stays, and the table says both. The filter finds the word."""
    fleet = fleets.rolling()
    held = {name for name, node in fleet["nodes"].items() if node["held"]}
    with opened(browser, fleet, "#q=held") as (_, page):
        withheld = {n for n, node in fleet["nodes"].items() if node["reason"] == "GpuWithheld"}
        assert set(read(page)["shown"]) - withheld == held and len(held) == 4
        bars = {name for name, _, _, shape, tone in page.eval("fleet.cells()") if shape == "bar"}
        assert bars == {name for name in held if fleet["nodes"][name]["state"] == "Ready"}, bars
        assert "3Held" in texts(page, "#states .chip"), texts(page, "#states .chip")
        states = texts(page, "#rows-body td:nth-of-type(1)")
        assert states[1:-1] == ["Failed, held", "Held", "Held", "Held", "Ready"], states


WINDOWS = """import('./fleet.js').then(({timeline, windowsSaid}) => {
  const at = (s) => new Date(s * 1000).toISOString(), windows = %s, plan = %s;
  const policy = {windows: windows?.map(([opens, closes]) =>
    ({opens: at(opens), closes: closes && at(closes)})), rollout: plan && {reason: 'x', plan:
    {madeAt: at(plan[0]), ends: plan[1] && at(plan[1]), waves: plan.slice(2).map((one) =>
      ({begins: at(one)}))}}};
  const line = timeline(policy, 100000);
  const seconds = line && [...line.open.flat(), 100000, ...(line.ends ? [line.ends] : [])];
  return [line && [line.from, line.to, ...seconds.map((one) => Math.round(100 * line.part(one)))],
    windowsSaid(policy.windows, 100000)];
})"""


@test
def windows_are_spans_and_words(browser):
    """The line of time reaches from the plan to the end of the rollout, or of the next two windows
    where that is not known, and no further; on it are the windows, now and the end. A sentence
    says the same of the windows."""
    rows = (
        ("undefined", "null", None, ""),
        ("[]", "null", None, "No window opens."),
        ("[[90000, 99999]]", "null", None, "No window opens."),
        ("[[107200, 110800]]", "null", [100000, 110800, 67, 100, 0],
         "The next window opens 05:46:40, in 2 h, until 06:46:40."),
        ("[[100000, 110000], [186400, 196400], [272800, 282800]]", "null",
         [100000, 196400, 0, 10, 90, 100, 100, 100, 0], "A window is open until 06:33:20."),
        ("[[99990, 103000]]", "null", [100000, 103600, 0, 83, 0],
         "A window is open until 04:36:40."),
        ("[[90000, null]]", "null", [100000, 103600, -278, 100, 0],
         "A window is open and stays open."),
        ("undefined", "[99000, 101000, 99500, 102000]", [99000, 102000, 33, 67], ""),
        ("undefined", "[99970, 100040]", [99970, 100060, 33, 78], ""),
        ("[[99990, 900000]]", "[99000, 109000]", [99000, 109000, 10, 100, 10, 100],
         "A window is open until 1970-01-11 10:00."),
        ("undefined", "[50000]", [50000, 100060, 100], ""),
    )
    with opened(browser, fleets.empty()) as (_, page):
        for windows, plan, line, said in rows:
            got = page.eval(WINDOWS % (windows, plan))
            assert got == [line, said], (windows, plan, got)
    with opened(browser, fleets.rolling()) as (_, page):
        shows(page, "#windows", "A window is open until 13:00:00.")
        assert texts(page, "#time span") == ["05:30:00", "12:00:00"]


@test
def blockers_name_node_pod_age_and_what_is_next(browser):
    """Each blocker has its node, its pod, since when it blocks, and what comes next."""
    with opened(browser, fleets.rolling()) as (_, page):
        lines = page.eval("[...document.querySelectorAll('#blockers li')].map((li) => "
                          "[...li.children].map((part) => part.textContent))")
        assert len(lines) == 4
        node, when, what, then = lines[0]
        assert (node, when) == ("l40s-a01-05", "Job · 41 min"), lines[0]
        assert what.startswith("ml-team/pretrain-llm-7 · a job"), what
        assert then.startswith("Next: the node drains when the job has ended"), then
    fleet = fleets.rolling()
    fleet["policy"]["blockers"][0].update(pod="a/b", next="then c",
                                          message="pod a/b is starting; then c")
    with opened(browser, fleet) as (_, page):  # what the message has is not said twice
        assert texts(page, "#blockers li:first-child p") == ["pod a/b is starting; then c", ""]


@test
def faults_are_listed_and_the_brake_is_told(browser):
    """Nodes with faulty GPUs are listed with the fault, the newest first; the storm brake's message
    stands above them while it is on."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (server, page):
        assert texts(page, "#faults .name") == ["l40s-b05-03", "h100-b02-06", "h100-a04-07"]
        shows(page, "#faults", "1 of 8 GPUs: closed for new pods")
        assert text(page, "#brake") == ""
        fleet["policy"]["health"].update(braked=True, message="5 nodes since 10:20")
        server.wait_for_stream()
        server.send("policy", {"asOf": fleet["asOf"], "policy": fleet["policy"]})
        shows(page, "#brake", "5 nodes since 10:20")


@test
def no_policy_and_no_nodes_are_said(browser):
    """Without a policy and nodes the page says so, and stays whole."""
    with opened(browser, fleets.empty()) as (_, page):
        assert text(page, "#verdict") == "No policy"
        shows(page, "#message", "Ostler changes nothing before there is a policy")
        assert read(page)["nodes"] == 0


@test
def the_page_decodes_what_the_program_encodes(browser):
    """Snapshots that the program's tests hold letter by letter give the same rows in the page."""
    files = sorted(GOLDEN.glob("*.fleet.json"))
    assert files or not GOLDEN.exists()
    with opened(browser, fleets.empty()) as (_, page):
        for file in files:
            rows = json.loads(file.with_name(file.name.replace(".fleet.", ".rows.")).read_text())
            got = page.eval(f"""import('./fleet.js').then(({{decode, apply}}) => {{
                const rows = {json.dumps(rows)}, there = decode({file.read_text()});
                const told = new Map();
                apply(told, {{set: rows}});
                const text = (nodes) =>
                  JSON.stringify([...nodes].sort(([a], [b]) => (a < b ? -1 : 1)));
                return [text(there) === text(told), there.size];
            }})""")
            assert got == [True, len(rows)], (file.name, got)


@test
def filters_and_order_are_pure(browser):
    """Tables of the page's functions: filters, order, the window of the table, spans of time."""
    with opened(browser, fleets.empty()) as (_, page):
        bad = page.eval("""Promise.all(['./fleet.js', './table.js', './dom.js', './map.js']
            .map((file) => import(file))).then(([fleet, table, dom, map]) => {
          const bad = [], is = (got, wanted) => JSON.stringify(got) === JSON.stringify(wanted) ||
            bad.push([got, wanted]);
          const nodes = new Map();
          const row = (name, state, since) => [name, 'p', null, null, state, null, null, '1', '2',
            8, 0, 0, since];
          fleet.apply(nodes, {set: [row('gpu-10', 'Ready', 5), row('gpu-2', 'Failed', 9),
            row('gpu-1', 'Ready', null)]});
          const facets = {state: (node) => node.state}, all = [...nodes.values()];
          const names = (some) => some.map(({name}) => name);
          for (const [words, chosen, wanted] of [
            ['', {}, ['gpu-10', 'gpu-2', 'gpu-1']], ['GPU-1', {}, ['gpu-10', 'gpu-1']],
            ['ready 10', {}, ['gpu-10']], ['nothing', {}, []],
            ['', {state: ['Failed']}, ['gpu-2']], ['1', {state: ['Failed', 'Ready']}, 
            ['gpu-10', 'gpu-2', 'gpu-1']], ['gpu-1', {state: ['Failed']}, []],
          ]) is(names(all.filter(fleet.matcher(words, chosen, facets))), wanted);
          const others = {name: ({key}) => key};
          for (const [by, wanted] of [['name', ['gpu-1', 'gpu-2', 'gpu-10']],
            ['-name', ['gpu-10', 'gpu-2', 'gpu-1']], ['since', ['gpu-10', 'gpu-2', 'gpu-1']],
            ['-since', ['gpu-2', 'gpu-10', 'gpu-1']], ['state', ['gpu-2', 'gpu-1', 'gpu-10']],
          ]) is(names(fleet.sorted([...all], by, others)), wanted);
          for (const [rows, scrolled, wanted] of [[0, 0, [0, 0]], [40, 0, [0, 40]],
            [5000, 0, [0, 50]], [5000, 34 * 1000, [990, 1040]], [5000, 1e9, [4950, 5000]],
          ]) is(table.windowOf(rows, scrolled, 30), wanted);
          for (const [s, wanted] of [[-5, '0 s'], [59.9, '59 s'], [60, '1 min'], [7199, '1 h'],
            [86400 * 3, '3 d']]) is(dom.span(s), wanted);
          for (const [change, moved] of [[{removed: ['no such node']}, false],
            [{set: [row('gpu-1', 'Ready', 7)]}, false], [{set: [row('gpu-3', 'Ready', 7)]}, true],
            [{set: [['gpu-3', 'q', ...row('', 'Ready', 7).slice(2)]]}, true],
            [{removed: ['gpu-3']}, true]]) is(fleet.apply(nodes, change), moved);
          const placed = map.layout(map.tree(all), 400);
          for (const [name, [x, y]] of placed.cells) is(map.nodeAt(placed, x + 2, y + 2), name);
          is(map.nodeAt(placed, 399, 399), null);
          return bad;
        })""")
        assert not bad, bad


@test
def pressing_a_chip_twice_shows_all_again(browser):
    """A chip filters and is pressed; pressed again, it filters no more."""
    fleet = fleets.rolling()
    with opened(browser, fleet) as (_, page):
        press(page, "#states .chip", "Waiting")
        settled(page)
        assert len(read(page)["shown"]) == 3
        assert page.eval("document.querySelectorAll('.chip[aria-pressed=true]').length") == 2
        assert text(page, "#shown") == f"3 of {len(fleet['nodes'])}"
        press(page, "#states .chip", "Failed")
        settled(page)
        assert len(read(page)["shown"]) == 4
        press(page, "#states .chip", "Waiting")
        press(page, "#states .chip", "Failed")
        settled(page)
        assert len(read(page)["shown"]) == len(fleet["nodes"])
