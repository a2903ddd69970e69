import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

from covertour import Fleet, InputError, Instance, Quota, Result, make_tour, random_instance
from covertour.formats.html import html_map
from covertour.formats.manner import Manner
from covertour.problem.tour import Tour

EVIL = "</script><img src=x onerror=alert(1)>"
TOWNS = Instance.from_coordinates(
    [[-17.4, 14.7], [-17.3, 14.7], [-16.5, 16.0], [-16.3, 12.6], [-16.2, 12.6]],
    metric="haversine",
    radius=20,
    labels=["Dakar", "Rufisque", "Saint-Louis", "Ziguinchor", "Tobor"],
    name="towns",
    depot=0,
    required=[3],
    forbidden=[1],
)
ROUND = make_tour(TOWNS, [0, 2, 3])


class Page(HTMLParser):
    """What a browser would see: elements, text outside of scripts, and the data of the script."""

    def __init__(self, page):
        super().__init__()
        self.elements = []
        self.text = ""
        self.inside = None
        self.data = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = dict(attributes).get("id", tag)

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "tour":
            self.data += data
        elif self.inside not in ("script", "style"):
            self.text += data

    def rows(self):
        return [attributes for _, attributes in self.elements if "data-stop" in attributes]


def test_the_list_has_a_row_for_every_stop_with_its_distances():
    page = Page(html_map(TOWNS, ROUND))
    assert len(page.rows()) == 3
    there = TOWNS.distances(0, 2)
    back = TOWNS.distances(3, 0)
    text = " ".join(page.text.split())
    assert re.search(rf"2 ?Saint-Louis ?{there:,.1f} km ?\+ {there:,.1f} km", text)
    assert f"back to Dakar, + {back:,.1f} km" in text
    assert "covers 1 other place" in text
    assert f"Rufisque, {TOWNS.distances(0, 1):.1f} km" in text


def test_the_header_says_length_stops_places_method_and_proof():
    result = Result(TOWNS, "exact", ROUND, 1.0, bound=ROUND.length)
    text = Page(html_map(TOWNS, result)).text
    for fact in ("towns", f"{ROUND.length:,.1f} km", "3", "5", "exact", "no tour is shorter"):
        assert fact in text
    loose = Result(TOWNS, "exact", ROUND, 1.0, bound=ROUND.length / 1.1)
    assert "at most 10.00% above the shortest" in Page(html_map(TOWNS, loose)).text
    assert "gap" not in Page(html_map(TOWNS, Result(TOWNS, "lns", ROUND, 1.0))).text


def test_the_data_holds_what_the_map_draws():
    data = json.loads(Page(html_map(TOWNS, ROUND)).data)
    assert data["geographic"] is True
    assert data["stops"] == [0, 2, 3]
    assert data["served"] == [0, 0, 1, 2, 2]
    assert data["at"][0] == [-17.4, 14.7]
    assert data["reach"] == pytest.approx([20_000] * 3, rel=1e-4)
    assert (data["depot"], data["required"], data["forbidden"]) == (0, [3], [1])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_places_in_the_plane_are_scaled_to_the_screen(scale):
    points = np.array([[0, 0], [0, 1], [1, 1], [1, 0]]) * scale
    instance = Instance.from_coordinates(points, radius=scale)
    data = json.loads(Page(html_map(instance, make_tour(instance, [0, 2]))).data)
    at = np.array(data["at"])
    assert at.min() >= 0
    assert 400 < at.max() <= 1000
    assert data["reach"][0] == pytest.approx(at[1, 1] - at[0, 1], abs=1e-3)


def test_no_text_of_the_user_becomes_markup():
    instance = Instance.from_coordinates(
        [[0, 0], [1, 1], [9, 9]],
        radius=2,
        labels=[EVIL, f"{{{{rows}}}}{EVIL}", "'\"&<b>"],
        name=f"</title>{EVIL}{{{{data}}}}",
    )
    result = Result(instance, f"<b>{EVIL}", make_tour(instance, [0, 2]), 1.0)
    plain, evil = html_map(TOWNS, ROUND), html_map(instance, result)
    tags = {tag for tag, _ in Page(plain).elements}
    assert {tag for tag, _ in Page(evil).elements} <= tags
    assert evil.count("<script") == plain.count("<script")
    assert json.loads(Page(evil).data)["labels"] == list(instance.labels)
    assert EVIL in Page(evil).text


def test_the_page_asks_nobody_for_anything():
    page = Page(html_map(TOWNS, ROUND))
    assert not [a for _, a in page.elements if "src" in a]
    assert "link" not in {tag for tag, _ in page.elements}
    assert policy_of(page) == (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
    )
    assert json.loads(page.data)["tiles"] is None


def policy_of(page):
    return next(a["content"] for _, a in page.elements if "http-equiv" in a)


def test_tiles_come_from_the_server_that_was_given_and_from_no_other():
    page = Page(
        html_map(TOWNS, ROUND, Manner("https://{s}.tiles.example.org/a/{z}/{x}/{y}.png?key=1"))
    )
    assert set(re.findall(r"https?://[^ ;]+", policy_of(page))) == {"https://*.tiles.example.org"}
    tiles = json.loads(page.data)["tiles"]
    assert tiles["url"] == "https://{s}.tiles.example.org/a/{z}/{x}/{y}.png?key=1"
    street = html_map(TOWNS, ROUND, Manner("https://tile.openstreetmap.org/{z}/{x}/{y}.png"))
    assert "openstreetmap.org/copyright" in json.loads(Page(street).data)["tiles"]["credit"]


@pytest.mark.parametrize(
    "address",
    ["", "osm", "https://a.org/", "ftp://a.org/{z}/{x}/{y}", "https://a'; x/{z}/{x}/{y}"],
)
def test_an_address_without_tiles_is_refused(address):
    with pytest.raises(InputError, match=r"^tiles: expected an address such as https://"):
        html_map(TOWNS, ROUND, Manner(address))


def test_the_ground_holds_the_outlines_around_the_places():
    ground = json.loads(Page(html_map(TOWNS, ROUND)).data)["ground"]
    (west, south), (east, north) = ground["box"]
    assert west < -20 < -12 < east
    assert south < 10 < 18 < north
    names = {name: (x, y) for name, x, y in ground["names"]}
    assert names["Senegal"] == pytest.approx((-15.5, 14.5), abs=1.5)
    assert "Mali" in names
    assert "France" not in names
    assert len(html_map(TOWNS, ROUND)) < 300_000
    step, origin = ground["step"], np.array(ground["origin"])
    for part in ("land", "coasts", "borders"):
        for line in ground[part]:
            points = origin + np.cumsum(np.reshape(line, (-1, 2)), axis=0) * step
            if part == "land":
                assert np.all(points >= origin - step)
                assert np.all(points <= np.array([east, north]) + step)


def test_the_plane_and_small_towns_have_no_outlines():
    plane = Instance.from_coordinates([[0, 0], [1, 1]], radius=2)
    town = Instance.from_coordinates([[7.42, 43.73], [7.43, 43.74]], metric="haversine", radius=9)
    for instance in (plane, town):
        page = Page(html_map(instance, make_tour(instance, [0])))
        assert json.loads(page.data)["ground"] is None


def test_what_the_radius_and_the_kilometres_mean_is_written_on_the_map():
    text = Page(html_map(TOWNS, ROUND)).text
    assert "A place covers a radius of 20 km." in text
    assert "Kilometres are straight lines over the globe, not roads." in text
    plane = Instance.from_coordinates([[0, 0], [1, 1]], nearest=1)
    text = Page(html_map(plane, make_tour(plane, [0]))).text
    assert "A place covers its 1 nearest. Distances are straight lines." in text


def test_each_stop_on_the_globe_has_a_link_to_navigate_by():
    page = Page(html_map(TOWNS, ROUND))
    links = [a for tag, a in page.elements if tag == "a" and a.get("class") == "go"]
    assert [(link["data-lat"], link["data-lon"]) for link in links] == [
        ("14.700000", "-17.400000"),
        ("16.000000", "-16.500000"),
        ("12.600000", "-16.300000"),
    ]
    assert links[1]["href"] == "geo:16.000000,-16.500000?q=16.000000,-16.500000(Saint-Louis)"
    plane = Instance.from_coordinates([[0, 0], [1, 1]], nearest=1)
    assert 'class="go"' not in html_map(plane, make_tour(plane, [0]))


def test_uncovered_places_are_named():
    text = Page(html_map(TOWNS, Tour(np.array([0, 2]), 1.0))).text
    assert "Not covered: places Ziguinchor, Tobor" in text


def test_a_matrix_without_coordinates_is_an_error():
    bare = Instance.from_matrix([[0, 1], [1, 0]], nearest=1, name="bare")
    with pytest.raises(InputError, match=r"^bare: cannot be drawn"):
        html_map(bare, make_tour(bare, [0]))


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium, which is not installed")
def test_a_browser_draws_the_map_without_errors(tmp_path):
    one = Instance.from_coordinates([[3, 4]], radius=1, labels=[EVIL])
    many = random_instance(2_000, radius=0.001, seed=1)
    fleet = TOWNS.with_changes(fleet=Fleet(vehicles=2))
    part = TOWNS.with_changes(required=(), quota=Quota(share=0.5), weight=[50, 20, 20, 5, 5])
    cases = {
        "fleet": (fleet, make_tour(fleet, [0, 2, 0, 3])),
        "part": (part, make_tour(part, [0, 2])),
        "towns": (TOWNS, ROUND),
        "one": (one, make_tour(one, [0])),
        "many": (many, make_tour(many, range(2_000))),
    }
    frames = ""
    for name, (instance, tour) in cases.items():
        (tmp_path / f"{name}.html").write_text(html_map(instance, tour), encoding="utf-8")
        frames += f'<iframe src="{name}.html" width="900" height="600"></iframe>'
    # One browser looks at all pages in frames and says what became of each.
    report = """
    <pre id="report"></pre>
    <script>
    addEventListener("load", () => {
      document.getElementById("report").textContent = JSON.stringify(
        [...document.querySelectorAll("iframe")].map((frame) => {
          const page = frame.contentDocument;
          return {
            ready: page.documentElement.dataset.ready,
            error: page.documentElement.dataset.error,
            rows: page.querySelectorAll(".stop").length,
            pins: page.querySelectorAll(".pin").length,
            images: page.querySelectorAll("img").length,
            hidden: (() => {
              const tick = page.querySelector("[data-switch]");
              if (!tick) return null;
              tick.click();
              const pins = [...page.querySelectorAll(".pin")];
              const gone = () => pins.filter((pin) => pin.style.display === "none").length;
              const counts = [gone()];
              const only = page.querySelector("[data-only='1']");
              tick.click();
              only.click();
              counts.push(gone());
              only.click();
              return [...counts, gone()];
            })(),
            lost: [...page.querySelectorAll(".lost .name")].map((name) => name.textContent),
            printed: (() => {
              const folded = () => page.querySelectorAll("aside details:not([open])").length;
              const before = folded();
              frame.contentWindow.dispatchEvent(new Event("beforeprint"));
              const during = [folded(), page.documentElement.classList.contains("printing")];
              frame.contentWindow.dispatchEvent(new Event("afterprint"));
              return [before, ...during, folded()];
            })(),
            found: (() => {
              const search = page.getElementById("search");
              search.value = "tobor";
              search.dispatchEvent(new Event("input"));
              const kept = page.querySelectorAll(".stop:not([hidden]) .name");
              return [...kept].map((name) => name.textContent);
            })(),
            legend: [...page.querySelectorAll("#legend > *")].map((entry) => entry.textContent),
          };
        }));
    });
    </script>"""
    (tmp_path / "all.html").write_text(f"<!DOCTYPE html>{frames}{report}", encoding="utf-8")
    assert CHROMIUM is not None
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--allow-file-access-from-files",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
    ]
    seen = subprocess.run(
        [CHROMIUM, *options, (tmp_path / "all.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    found = re.search(r'<pre id="report">(.*?)</pre>', seen, re.DOTALL)
    assert found is not None
    routes, some, towns, single, crowd = json.loads(found[1].replace("&amp;", "&"))
    for page, stops in ((routes, 4), (some, 2), (towns, 3), (single, 1), (crowd, 2_000)):
        assert page["ready"] == "yes"
        assert "error" not in page
        assert page["rows"] == stops
        assert page["images"] == 0
    assert (towns["pins"], single["pins"]) == (3, 1)
    assert crowd["pins"] == 0
    assert (routes["pins"], routes["hidden"], towns["hidden"]) == (4, [2, 2, 0], None)
    assert some["lost"] == ["Ziguinchor", "Tobor"]
    assert "not covered" in some["legend"]
    assert towns["printed"] == [2, 0, True, 2]  # what is covered is unfolded, and folded again
    assert towns["found"] == ["Ziguinchor required"]  # which covers Tobor
    assert crowd["found"] == []
    assert towns["legend"] == [
        "depot",
        "required stop",
        "stop",
        "covered place",
        "×no stop allowed",
        "lines to covered places",
        "reach of the stops",
    ]


@pytest.mark.parametrize("stops", [[0, 99], [], [0, -1]])
def test_a_tour_of_places_that_do_not_exist_is_refused(stops):
    with pytest.raises(InputError, match="tour: expected"):
        html_map(TOWNS, Tour(np.array(stops, dtype=np.int64), 0.0))
