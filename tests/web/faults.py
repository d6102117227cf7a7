#!/usr/bin/python3
"""Plants a fault into the fleet page for each of its tests, which must then fail: a test that holds
with the fault proves nothing. Prints "faults: N passed, N failed".

    tests/web/faults.py [WORD…]      only tests whose name has one of these words
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WEB = HERE.parents[1] / "web"

# Test, file, text, text in its place.
FAULTS = (
    ("each_node_has_a_cell_in_the_colour", "look.js", '["hollow", "gone", "the node', '["hollow", '
     '"work", "the node'),
    ("the_cells_of_5000_nodes", "map.js", "pale ? 0.13 : 1", "pale ? 0.13 : 0.7"),
    ("every_state_has_a_shape", "look.js", 'Draining: ["corner"', 'Draining: ["slash"'),
    ("by_driver_counts_versions", "look.js", "key(a) > key(b) ?", "key(a) < key(b) ?"),
    ("by_use_fills_cells", "look.js", "Math.ceil(8 * node.used", "Math.floor(8 * node.used"),
    ("by_health_shows", "look.js", ': bad ? "faulty"', ': bad > 1 ? "faulty"'),
    ("a_change_is_drawn_at_once", "fleet.js", "nodes.set(after.name, after);",
     "nodes.set(after.name, before ?? after);"),
    ("nodes_come_and_go", "app.js", "data) ? PLACES", "data) ? ALL"),
    ("the_headline_is_the_policys", "fleet.js", "serves * (gpus - bad)", "serves * gpus"),
    ("each_pool_has_a_rail", "fleet.js", 'all("done", "away") ? "done"', 'all("done") ? "done"'),
    ("a_pool_without_nodes", "fleet.js", "(pool) => pool.nodes > 0", "() => true"),
    ("a_wave_of_two_pools", "fleet.js", "inWaves.get(i),", "waves[i].names.map((name) => "
     "nodes.get(name)).filter(Boolean),"),
    ("a_node_has_a_tick", "panels.js", 'ticks("bad", timesOf', 'ticks("ok", timesOf'),
    ("a_new_node_is_not_under_way", "fleet.js", "since < madeAt", "since < 0"),
    ("soaks_and_windows", "fleet.js", '|| done.length', '|| true'),
    ("a_held_node", "table.js", 'state !== "Held"', "false"),
    ("windows_are_spans", "fleet.js", "closes > now)", "true)"),
    ("blockers_name_node", "panels.js", "!message.includes(next) && ", ""),
    ("faults_are_listed", "panels.js", "policy?.health?.braked ?", "policy?.braked ?"),
    ("no_policy_and_no_nodes", "panels.js", '["gone", "No policy"]', '["gone", ""]'),
    ("the_page_decodes", "fleet.js", "target: dictionary.driver", "target: dictionary.drivers"),
    ("filters_and_order", "fleet.js", 'digits.padStart(12, "0")', "digits"),
    ("pressing_a_chip_twice", "app.js", "old.filter((one) => one !== value)", "old"),
    ("words_filter", "map.js", "!scene.matches(node)", "false"),
    ("arrows_and_enter", "map.js", "least && counts(name)", "least"),
    ("arrows_and_enter", "app.js", "shown.some(({ name }) => name === scene.at) &&", ""),
    ("windows_are", "fleet.js", "(madeAt ? 60 : 3600)", "3600"),
    ("each_pool_has", "fleet.js", '"Canary, wave"', '"Wave"'),
    ("the_headline", "fleet.js", '"ForeignStack", "Unmanaged", "Removing"', '"Removing"'),
    ("arrows_move", "map.js", "3 * Math.abs(aside)", "0 * Math.abs(aside)"),
    ("a_click_on_a_cell", "map.js", "x < left + size && y < top + size", "y < top + size"),
    ("the_address_holds", "app.js", 'history[step ? "pushState"', 'history[false ? "pushState"'),
    ("a_wrong_address", "app.js", "{ __proto__: null, name", "{ name"),
    ("rows_in_view", "table.js", "2 * MARGIN", "9 * MARGIN"),
    ("the_table_sorts", "fleet.js", "(by === member) ? -1 : 1", "(by === by) ? -1 : 1"),
    ("the_story_tells", "drawer.js", "count > 1 ? ` × ${count}`", "count > 9 ? ` × ${count}`"),
    ("the_story_follows", "app.js", "if (data.set.some(([name]) => name === view.node))",
     "if (false)"),
    ("a_button_copies", "dom.js", "writeText(text)", 'writeText("")'),
    ("hostile_names_are_text", "style.css", "overflow-wrap: anywhere;", ""),
    ("hostile_nodes_have_stories", "drawer.js", "encodeURIComponent(wanted)", "wanted"),
    ("the_page_is_small", "app.js", "/* For tests. */", "/* " + "x" * 4096 + " */"),
    ("the_page_works_under_a_prefix", "live.js", "`events?after", "`/events?after"),
    ("the_page_listens_from_its_snapshot", "live.js", "listen(body.id)", "listen(0)"),
    ("a_lost_connection", "live.js", 'hear("waiting", refused',
     'if (refused) hear("waiting", refused'),
    ("a_reset_fetches", "live.js", '"reset", start', '"resets", start'),
    ("a_standby_names", "app.js", "pod/${leader} 8081", "pod/leader 8081"),
    ("a_change_of_leader", "app.js", '|| kind === "standby"));', "));"),
    ("no_leader_is_said", "app.js", "return !leader ?", "return leader === null ?"),
    ("silence_greys", "app.js", "SILENT_MS = 60000", "SILENT_MS = 90000"),
    ("an_ostler_that_hears_nothing", "app.js", "(by > 0 || by < -2)", "true"),
    ("a_silent_connection", "app.js", "\tagain();", ""),
    ("a_beat_is_a_word", "app.js", "if (asOf && ", "if (!asOf && "),
    ("lives_without_a_stream", "live.js", "refused && !opened ?", "refused && opened ?"),
    ("an_ostler_that_is_away", "app.js", "if (silent && asOf)", "if (silent && !asOf)"),
    ("axe_finds_nothing", "style.css", "--quiet: #56616f", "--quiet: #9aa6b5"),
    ("a_screen_reader_finds", "dom.js", '"aria-label": `Copy ${text}`', '"aria-label": "Copy"'),
    ("everything_is_reached", "style.css", "outline: 2px solid var(--accent)", "outline: none"),
    ("the_sentence_is_read_out", "app.js", "ANNOUNCE_MS = 10000", "ANNOUNCE_MS = 0"),
    ("dark_and_light", "app.js", ".onchange = () => redraw(PLACES)",
     ".onchange = () => redraw()"),
    ("nothing_moves", "style.css", "button { cursor", 
     "@keyframes k { 50% { opacity: 0 } } button { animation: k 1s infinite; cursor"),
    ("small_screens", "style.css", "#room, output, footer {", "output, footer {"),
    ("five_thousand_nodes", "app.js", "const began = performance.now();",
     "const began = performance.now() - 60;"),
    ("memory_stays_flat", "app.js", "redraw(apply(fleet.nodes, data)",
     "(fleet.old ??= []).push(...[1, 2, 3, 4].map(() => structuredClone(data)));"
     " redraw(apply(fleet.nodes, data)"),
    ("the_pictures_of_the_documents", "look.js", 'Lost: ["hollow", "gone"', 'Lost: ["solid", "ok"'),
)


def fails(test, file, text, other):
    """Whether the test fails with the fault; None: the page has no such text."""
    source = (WEB / file).read_text()
    if text not in source:
        return None
    with tempfile.TemporaryDirectory(prefix="ostler-web-") as folder:
        page = pathlib.Path(folder) / "web"
        shutil.copytree(WEB, page)
        (page / file).write_text(source.replace(text, other))
        result = subprocess.run([HERE / "test_web.py", test], capture_output=True, text=True,
                                env={**os.environ, "OSTLER_WEB": str(page)})
        if "web: 1 passed" not in result.stdout and "web: 0 passed, 1 failed" not in result.stdout:
            print(result.stdout, result.stderr)
        return "web: 0 passed, 1 failed" in result.stdout


def main():
    failed = 0
    wanted = [fault for fault in FAULTS
              if len(sys.argv) < 2 or any(word in fault[0] for word in sys.argv[1:])]
    for test, file, text, other in wanted:
        found = fails(test, file, text, other)
        word = {True: "ok  ", False: "FAIL", None: "GONE"}[found]
        failed += found is not True
        print(f"{word} {test}: {file}: {text!r} → {other[:60]!r}", flush=True)
    print(f"faults: {len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
