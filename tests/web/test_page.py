"""The page as planners use it, in a real browser, on a desk and on a phone."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from covertour import Instance, read, read_tour, verify
from covertour.problem.instance import make_rule
from covertour.problem.metric import METRICS
from tests.web.conftest import TOKEN

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
DESK, PHONE = (1400, 900), (390, 844)
AXE = (Path(__file__).parent / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
CSV = """name,lat,lon,people,depot
Dakar,14.69,-17.44,2646503,1
Pikine,14.76,-17.39,1170791,0
Thiès,14.79,-16.93,317763,0
Mbour,14.42,-16.96,284189,0
<b>Évil</b>,14.10,-16.50,1000,0
"""


@pytest.fixture(scope="session")
def browser() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@dataclass(frozen=True)
class Window:
    """A window of the browser that tests share, and what went wrong in its scripts."""

    page: playwright.Page
    errors: list[str]


@pytest.fixture(scope="session")
def window(browser) -> Iterator[Callable[..., Window]]:
    """Windows by their size and colours, opened once."""
    contexts = []

    @cache
    def opened(size: tuple[int, int], scheme: str = "light") -> Window:
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            has_touch=width < 800,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(240_000)  # what is not compiled yet takes a while
        contexts.append(context)
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: line.type == "error" and errors.append(line.text))
        return Window(page, errors)

    yield opened
    for context in contexts:
        context.close()


@contextmanager
def fresh(window: Window, url: str) -> Iterator[playwright.Page]:
    """The page as a newcomer sees it; whatever goes wrong in its scripts fails the test."""
    page = window.page
    page.emulate_media(media="screen")
    page.goto(f"{url}/v1/health")
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    window.errors.clear()
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    yield page
    assert [error for error in window.errors if "status of 4" not in error] == []


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def page(request, window, server) -> Iterator[playwright.Page]:
    with fresh(window(request.param), server.url) as page:
        yield page


@pytest.fixture
def desk(window, server) -> Iterator[playwright.Page]:
    with fresh(window(DESK), server.url) as page:
        yield page


def example(page, name="Senegal"):
    page.get_by_role("button", name=re.compile(name)).click()
    page.wait_for_selector("#facts dd")


def open_csv(page, content=CSV, name="towns.csv"):
    file = {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    page.locator("#file").set_input_files(file)
    page.wait_for_selector("#facts dd")


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def solved(page, seconds="1"):
    """Find a tour, and wait until the search has ended."""
    page.locator("#time").select_option(seconds)
    ended(page, "#solve")
    page.wait_for_selector(".itinerary tbody tr")


def ended(page, button):
    """Click a button that begins a search, and wait until that has ended."""
    before = int(page.locator("html").get_attribute("data-ended") or 0)
    page.locator(button).click()
    page.wait_for_selector(f'html[data-ended="{before + 1}"]')


def facts(page):
    names, values = (page.locator(f"#facts {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return dict(zip(names, values, strict=True))


def kept(page):
    """The plan as the page would send it."""
    link = page.locator("#link")
    tab(page, "Take away")
    link.click()
    page.wait_for_selector("#link[data-address]")
    return link.get_attribute("data-address")


def painted(page, pane):
    """How many pixels of a pane of the map are painted."""
    return page.evaluate(
        """pane => {
          const canvas = document.querySelector(`.leaflet-${pane}-pane canvas`);
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let k = 3; k < data.length; k += 4) if (data[k]) count++;
          return count;
        }""",
        pane,
    )


def downloaded(page, selector):
    """What a button saves, and under which name; a refusal of the server fails with its words."""
    with page.expect_download() as waiting:
        with page.expect_response("**/v1/convert") as asked:
            page.locator(selector).click()
        answer = asked.value
        assert answer.ok, f"{selector}: {answer.status} {answer.text()}"
    return Path(waiting.value.path()).read_bytes(), waiting.value.suggested_filename


# 1. Places


def test_a_file_is_opened_and_its_names_are_text(page):
    open_csv(page)
    assert facts(page)["Places"] == "5"
    tab(page, "Places")
    names = page.locator(".places tbody tr td:first-child input")
    assert names.count() == 5
    assert names.nth(4).input_value() == "<b>Évil</b>"
    assert page.locator("b", has_text="Évil").count() == 0
    assert page.locator(".places tbody select").first.input_value() == "depot"


def test_a_file_that_cannot_be_read_says_why(desk):
    bad = {"name": "bad.csv", "mimeType": "text/csv", "buffer": b"name,lat\nA,1\n"}
    desk.locator("#file").set_input_files(bad)
    assert "bad.csv" in desk.get_by_role("alert").inner_text()


def test_rows_are_pasted_as_a_spreadsheet_has_them(page):
    page.get_by_role("button", name="Paste rows").click()
    page.locator("#paste-text").fill(CSV.replace(",", "\t"))
    page.get_by_role("button", name="Use these places").click()
    page.wait_for_selector("#facts dd")
    assert facts(page)["People"] == "4,420,246"


def test_clicks_on_the_map_add_places_that_can_be_taken_back(desk):
    desk.get_by_role("button", name="Click the map").click()
    for x, y in ((300, 300), (420, 360), (360, 480)):
        desk.locator("#map").click(position={"x": x, "y": y})
    assert facts(desk)["Places"] == "3"
    desk.locator("#undo").click()
    assert facts(desk)["Places"] == "2"
    desk.keyboard.press("Control+Shift+z")
    assert facts(desk)["Places"] == "3"
    assert painted(desk, "places") > 50


def test_the_table_edits_names_people_and_roles(page):
    open_csv(page)
    tab(page, "Places")
    rows = page.locator(".places tbody tr")
    rows.nth(1).locator("input").first.fill("Pikine-Est")
    rows.nth(1).locator("input").nth(1).fill("5")
    page.keyboard.press("Tab")
    rows.nth(1).locator("select").select_option("must")
    rows.nth(2).locator("select").select_option("not")
    rows.nth(4).get_by_role("button").click()
    assert rows.count() == 4
    tab(page, "Take away")
    content, name = downloaded(page, '#place-formats [data-format="json"]')
    instance = json.loads(content)
    assert name == "towns.json"
    assert instance["labels"][1] == "Pikine-Est"
    assert instance["weight"][1] == 5
    assert (instance["required"], instance["forbidden"], instance["depot"]) == ([1], [2], 0)


def test_a_place_is_found_and_its_card_says_what_it_is_to_be(desk):
    example(desk)
    tab(desk, "Places")
    desk.get_by_role("searchbox").fill("tambacounda")
    assert desk.locator(".places tbody tr").count() == 1
    desk.locator(".places tbody input").first.focus()
    desk.locator("#card").get_by_role("button", name="Must stop").click()
    assert desk.locator(".places tbody select").input_value() == "must"


# 2. The rule


def needs(client, feature):
    """Skip a test of what no method of this version handles."""
    if not any(feature in method["handles"] for method in client.get("/v1/methods").json()):
        pytest.skip(f"no method handles {feature} yet")


def test_the_slider_moves_circles_and_share_at_once(page):
    example(page)
    solved(page)
    tab(page, "Rule")
    before, reach = facts(page), painted(page, "reach")
    assert before["People reached"] == "100%"
    page.locator("#reach-slider").fill("100")
    assert facts(page)["People reached"] != "100%"
    assert "The present plan reaches" in page.locator(".told").inner_text()
    assert painted(page, "reach") < reach
    page.locator("#undo").click()
    assert facts(page) == before


def test_nearest_places_are_a_rule_too(desk):
    example(desk, "Parcel")
    tab(desk, "Rule")
    assert desk.get_by_role("radio", name="its nearest places").is_checked()
    field = desk.get_by_role("textbox", name="Reach as a number")
    assert field.input_value() == "7"
    field.fill("3")
    field.press("Tab")
    solved(desk)
    assert facts(desk)["Places reached"] == "100%"


def test_a_share_is_enough_where_it_is_asked_for(desk, client):
    needs(client, "quota")
    example(desk)
    solved(desk)
    full = int(facts(desk)["Stops"])
    tab(desk, "Rule")
    desk.get_by_role("radio", name="at least a share").check()
    solved(desk)
    now = facts(desk)
    assert int(now["Stops"]) < full
    assert 90 <= float(now["People reached"].rstrip("%")) <= 100
    assert "Not reached" in desk.locator("#missed").inner_text()


def test_several_vehicles_have_routes_of_their_own(desk, client):
    needs(client, "fleet")
    example(desk, "Parcel")
    tab(desk, "Rule")
    desk.get_by_role("checkbox", name="several vehicles").check()
    desk.get_by_label("Most stops of a route").fill("9")
    desk.get_by_label("Vehicles at most").fill("")
    desk.get_by_label("Vehicles at most").press("Tab")
    solved(desk)
    assert desk.locator(".itinerary tr.route").count() >= 2


# 3. Solve


def test_a_tour_is_drawn_and_the_referee_accepts_it(page):
    open_csv(page)
    assert painted(page, "tour") == 0
    solved(page)
    assert painted(page, "tour") > 100
    tab(page, "Take away")
    instance = read(io.BytesIO(downloaded(page, '#place-formats [data-format="json"]')[0]))
    tour, _ = downloaded(page, '#tour-formats [data-format="json"]')
    assert verify(instance, read_tour(io.BytesIO(tour), instance)).ok


def test_a_search_is_stopped_and_keeps_the_best(page):
    example(page)
    page.locator("#time").select_option("300")
    page.locator("#solve").click()
    page.wait_for_selector("html[data-first]")
    page.locator("#solve").click()
    page.wait_for_selector("body:not(.solving)")
    assert facts(page)["People reached"] == "100%"
    assert "Stopped" in page.locator("#live").inner_text()


def test_a_proof_closes_the_gap(desk):
    open_csv(desk, "x,y\n" + "\n".join(f"{7 * k % 31},{11 * k % 37}" for k in range(40)))
    solved(desk)
    desk.locator("#time").select_option("60")
    ended(desk, "#prove")
    assert facts(desk)["Gap"] == "proven best"


def test_a_stop_is_forbidden_and_the_plan_compared(desk):
    example(desk)
    solved(desk)
    row = desk.locator('.itinerary tr[data-index="3"]')
    name = row.locator(".name").inner_text()
    row.get_by_role("button", name=f"Never stop at {name}").click()
    assert desk.locator("#solve").inner_text() == "Improve from here"
    solved(desk)
    assert name not in desk.locator(".itinerary .name").all_inner_texts()
    assert facts(desk)["People reached"] == "100%"
    deltas = desk.locator("#compared .deltas").inner_text()
    assert "new" in deltas
    assert "People" in deltas


def test_a_stop_is_moved_by_keyboard_and_by_dragging(desk):
    example(desk)
    solved(desk)
    names = desk.locator(".itinerary .name")
    order = names.all_inner_texts()
    later = desk.locator('.itinerary tr[data-index="2"]').get_by_role("button", name="Later")
    later.focus()
    desk.keyboard.press("Enter")
    assert names.all_inner_texts()[2:4] == [order[3], order[2]]
    assert desk.evaluate("document.activeElement.dataset.tool") == "Later:"
    row = desk.locator('.itinerary tr[data-index="6"]')
    row.drag_to(desk.locator('.itinerary tr[data-index="4"]'))
    assert names.all_inner_texts()[4] == order[6]
    assert "changed by hand" in desk.locator(".state").inner_text()


def test_a_reload_finds_the_plan_again(desk):
    open_csv(desk)
    solved(desk)
    before = facts(desk)
    desk.wait_for_selector('html[data-kept]:not([data-kept="0"])')
    desk.reload()
    desk.wait_for_selector(".itinerary tbody tr", state="attached")
    assert facts(desk) == before


def test_a_search_goes_on_while_the_page_is_loaded_again(desk):
    example(desk)
    desk.locator("#time").select_option("300")
    desk.locator("#solve").click()
    desk.wait_for_selector("html[data-first]")
    desk.wait_for_selector("html[data-kept]")
    desk.reload()
    desk.wait_for_selector("body.solving")
    ended(desk, "#solve")
    assert facts(desk)["People reached"] == "100%"


# 4. Take it away


@pytest.mark.parametrize("half", [0, 1])
def test_every_format_is_saved(desk, client, half):
    """In two halves, as Chromium drops what a page saves beyond ten files in a second."""
    open_csv(desk)
    solved(desk)
    tab(desk, "Take away")
    formats = client.get("/v1/health").json()["formats"]["tour"][half::2]
    assert len(formats) in range(1, 10)
    for format in formats:
        content, name = downloaded(desk, f'#tour-formats [data-format="{format}"]')
        assert name == f"towns.{format}"
        assert content


def test_a_link_holds_the_plan(page, browser, server):
    open_csv(page)
    solved(page)
    before, address = facts(page), kept(page)
    context = browser.new_context()
    other = context.new_page()
    other.goto(address)
    other.wait_for_selector("html[data-ready]")
    assert {**facts(other)} == {key: value for key, value in before.items() if key != "Gap"}
    context.close()


def test_a_damaged_link_says_so(desk, server):
    desk.goto(server.url + "/#plan=abcd")
    desk.reload()
    assert "damaged" in desk.get_by_role("alert").inner_text()


def test_the_printed_plan_lists_stops_and_whom_they_reach(desk):
    open_csv(desk)
    solved(desk)
    desk.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    desk.emulate_media(media="print")
    text = desk.locator("#printed").inner_text()
    assert "Dakar" in text
    assert "Pikine" in text
    assert not desk.locator("aside").is_visible()
    assert (
        desk.locator("#printed img").evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        > 900
    )
    desk.emulate_media(media="screen")
    assert desk.locator("aside").is_visible()


def test_the_page_asks_for_the_token_of_its_server(browser, strict):
    context = browser.new_context()
    page = context.new_page()
    page.goto(strict.url)
    page.locator("#token-text").fill(TOKEN)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name=re.compile("Senegal")).wait_for()
    page.goto("about:blank")
    page.goto(f"{strict.url}/#token={TOKEN}")
    page.wait_for_selector("html[data-ready]")
    assert "sesame" not in page.url
    context.close()


# 5. For everyone


def serious(page):
    """What axe-core finds that is serious or worse."""
    page.evaluate(AXE + "; undefined")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        (violation["id"], node["html"][:120], node["failureSummary"][:200])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]


@pytest.mark.parametrize(
    ("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"]
)
def test_axe_finds_nothing_serious(window, server, size, scheme):
    with fresh(window(size, scheme), server.url) as page:
        assert serious(page) == []
        example(page)
        solved(page)
        for name in ("Places", "Rule", "Plan", "Take away"):
            tab(page, name)
            assert serious(page) == [], name


def test_axe_finds_nothing_serious_in_the_documentation(desk, server):
    desk.goto(server.url + "/docs")
    assert serious(desk) == []


def test_all_of_it_goes_by_keyboard(desk):
    def press_until(key, label):
        for _ in range(60):
            desk.keyboard.press(key)
            here = desk.evaluate(
                "document.activeElement.matches('button') ? document.activeElement.textContent : ''"
            )
            if label in here:
                return
        raise AssertionError(f"the focus never came to {label}")

    press_until("Tab", "Mobile clinics")
    desk.keyboard.press("Enter")
    desk.wait_for_selector("#facts dd")
    press_until("Tab", "Find a tour")
    desk.keyboard.press("Enter")
    desk.wait_for_selector("html[data-first]")
    desk.keyboard.press("Enter")
    desk.wait_for_selector("body:not(.solving)")
    assert facts(desk)["People reached"] == "100%"
    desk.locator("#tab-plan").focus()
    desk.keyboard.press("ArrowRight")
    assert desk.locator("#tab-away").get_attribute("aria-selected") == "true"


def test_fifty_thousand_places_are_shown_searched_and_moved(desk):
    rows = "\n".join(f"P{k},{(k * 7919) % 9973},{(k * 104729) % 9967}" for k in range(50_000))
    open_csv(desk, "name,x,y\n" + rows, "many.csv")
    assert facts(desk)["Places"] == "50,000"
    assert painted(desk, "places") > 10_000
    tab(desk, "Places")
    desk.get_by_role("searchbox").fill("P4999")
    assert desk.locator(".places tbody tr").count() == 11
    before, zoom = painted(desk, "places"), desk.locator("html").get_attribute("data-zoom")
    desk.locator("#map").focus()
    desk.keyboard.press("+")
    desk.wait_for_selector(f'html:not([data-zoom="{zoom}"])')
    assert painted(desk, "places") != before


def test_the_page_knows_distances_and_coverage_as_the_library_does(desk):
    rng = np.random.default_rng(1)
    cases, expected = [], []
    for number in range(140):
        metric = METRICS[number % len(METRICS)]
        n = int(rng.integers(1, 40))
        points = _points(metric, n, number, rng)
        matrix = rng.integers(0, 50, (n, n)).astype(float) if metric == "matrix" else None
        kind = "nearest" if number % 2 else "radius"
        value = int(rng.integers(0, 8)) if number % 2 else float(rng.choice([0, 1, 5, 50, 300]))
        instance = Instance(
            metric=metric, rule=make_rule(**{kind: value}), coordinates=points, matrix=matrix
        )
        stops = rng.permutation(n)[: max(1, n // 5)].tolist()
        cases.append(
            {
                "metric": metric,
                "n": n,
                "points": points.ravel().tolist(),
                "matrix": None if matrix is None else matrix.tolist(),
                "rule": {"kind": kind, "value": value},
                "stops": stops,
            }
        )
        expected.append((instance.covered(stops).tolist(), instance.length(stops)))
    found = desk.evaluate(
        """async cases => {
          const { evaluate } = await import("/page/geometry.js");
          const { EMPTY } = await import("/page/model.js");
          return cases.map(({ points, stops, ...fields }) => {
            const found = evaluate({ ...EMPTY, ...fields, at: Float64Array.from(points) }, stops);
            return [Array.from(found.covered, Boolean), found.length];
          });
        }""",
        cases,
    )
    for case, (covered, length), (true_covered, true_length) in zip(
        cases, found, expected, strict=True
    ):
        assert covered == true_covered, case
        assert length == pytest.approx(true_length, rel=1e-9, abs=1e-9), case


def _points(metric, n, number, rng):
    """Places in a part of the world or all around it; in the plane with ties and doubles."""
    if metric == "geo":
        return np.column_stack([rng.uniform(10, 20, n), rng.uniform(-20, -10, n)]).round(2)
    if metric == "haversine" and number % 3:
        return np.column_stack([rng.uniform(-20, -10, n), rng.uniform(10, 20, n)])
    if metric == "haversine":
        return np.column_stack([rng.uniform(-180, 180, n), rng.uniform(-89, 89, n)])
    return rng.integers(0, 30 if number % 4 else 900, (n, 2)).astype(float)
