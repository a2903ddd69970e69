"""Draw the moves of the search as SVG files: ``python docs/images/moves.py``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, HEIGHT, SPACE, REACH, TOP = 300, 210, 40, 44, 32

STYLE = """
text { font: 15px sans-serif; fill: #444 }
.arrow { font-size: 28px; text-anchor: middle }
.reach { fill: #00629b; fill-opacity: .07; stroke: #00629b; stroke-opacity: .25 }
.kept { stroke: #00629b; stroke-width: 2.5; fill: none }
.new { stroke: #d55e00; stroke-width: 3; fill: none }
.gone { stroke: #999; stroke-width: 2; stroke-dasharray: 5 4; fill: none }
.stop { fill: #00629b; stroke: #fff; stroke-width: 1.5 }
.place { fill: #fff; stroke: #777; stroke-width: 1.5 }
.open { fill: #fff; stroke: #d55e00; stroke-width: 2.5 }
.fresh { fill: #d55e00; stroke: #fff; stroke-width: 1.5 }
"""

Point = tuple[float, float]


@dataclass
class Panel:
    """One picture of a tour. ``places``: all points; the others are numbers of them."""

    title: str
    places: list[Point]
    tour: list[int]
    new_legs: list[tuple[int, int]] = field(default_factory=list)
    gone: list[tuple[int, int]] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)
    uncovered: list[int] = field(default_factory=list)
    reach: list[int] = field(default_factory=list)
    closed: bool = True

    def lines(self) -> list[str]:
        """The picture as SVG."""
        at = self.places
        legs = list(zip(self.tour, self.tour[1:] + self.tour[:1], strict=True))
        if not self.closed:
            legs = legs[:-1]
        found = [f'<circle class="reach" cx="{at[i][0]}" cy="{at[i][1]}" r="{REACH}"/>'
                 for i in self.reach]  # fmt: skip
        fresh_legs = {frozenset(leg) for leg in self.new_legs}
        lost = {frozenset(leg) for leg in self.gone}
        drawn = [(leg, "new" if frozenset(leg) in fresh_legs else "kept") for leg in legs
                 if frozenset(leg) not in lost]  # fmt: skip
        drawn += [(leg, "gone") for leg in self.gone]
        for (a, b), kind in drawn:
            (x, y), (u, v) = at[a], at[b]
            found.append(f'<line class="{kind}" x1="{x}" y1="{y}" x2="{u}" y2="{v}"/>')
        for number, (x, y) in enumerate(at):
            kind, size = "place", 4
            if number in self.uncovered:
                kind, size = "open", 5
            elif number in self.fresh:
                kind, size = "fresh", 7
            elif number in self.tour:
                kind, size = "stop", 6
            found.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{size}"/>')
        found.append(f'<text x="{WIDTH / 2}" y="{HEIGHT + 16}" text-anchor="middle">'
                     f"{self.title}</text>")  # fmt: skip
        return found


def draw(name: str, told: str, panels: list[Panel]) -> None:
    """Write panels side by side to a file."""
    wide = len(panels) * WIDTH + (len(panels) - 1) * SPACE
    tall = HEIGHT + TOP + 30
    body = []
    for number, panel in enumerate(panels):
        body += [f'<g transform="translate({number * (WIDTH + SPACE)} 0)">', *panel.lines(), "</g>"]
        if number:
            x = number * (WIDTH + SPACE) - SPACE / 2
            body.append(f'<text class="arrow" x="{x}" y="{HEIGHT / 2}">→</text>')
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -{TOP} {wide + 20} {tall}" '
        f'width="{wide + 20}" height="{tall}" role="img" aria-label="{told}">\n'
        f"<title>{told}</title>\n<style>{STYLE}</style>\n"
        f'<rect x="-10" y="-{TOP}" width="100%" height="100%" rx="8" fill="#fff"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )
    (HERE / f"move-{name}.svg").write_text(svg, encoding="utf-8")


RING = [
    (40, 60), (100, 30), (165, 45), (225, 35), (270, 90), (240, 150), (180, 175), (110, 165),
    (50, 140),
]  # fmt: skip
OFF = [(70, 95), (130, 75), (200, 70), (205, 120), (150, 130), (95, 125), (245, 65)]


def remove_and_cover() -> None:
    """A few stops are removed; what they alone covered is covered again, otherwise."""
    at = RING + OFF
    ring = list(range(9))
    rest = [0, 1, 5, 6, 7, 8]
    draw(
        "remove",
        "Three stops are removed, and the places left uncovered are covered by two others",
        [
            Panel("a tour", at, ring, reach=[2, 3, 4]),
            Panel(
                "three stops removed", at, rest, new_legs=[(1, 5)],
                gone=[(1, 2), (2, 3), (3, 4), (4, 5)], uncovered=[2, 3, 4, 11, 15],
            ),
            Panel(
                "covered again by two others", at, [0, 1, 11, 15, 5, 6, 7, 8],
                new_legs=[(1, 11), (11, 15), (15, 5)], fresh=[11, 15], reach=[11, 15],
            ),
        ],
    )  # fmt: skip


def exchange() -> None:
    """A stop is replaced by another place that covers all that only it covers."""
    at = [*RING, (160, 78), (140, 60), (185, 70), (60, 95), (205, 125), (120, 120)]
    ring = list(range(9))
    swapped = [0, 1, 9, 3, 4, 5, 6, 7, 8]
    draw(
        "exchange",
        "A stop is exchanged for a place that covers the same and lies better",
        [
            Panel("a stop", [*at[:2], (165, 15), *at[3:]], ring, reach=[2],
                  gone=[(1, 2), (2, 3)]),
            Panel("another that covers what only it covered", [*at[:2], (165, 15), *at[3:]],
                  swapped, new_legs=[(1, 9), (9, 3)], fresh=[9], reach=[9]),
        ],
    )  # fmt: skip


def two_opt() -> None:
    """Two legs that cross are replaced by two that do not; the path between is turned around."""
    at = [(30, 40), (120, 35), (270, 45), (275, 160), (120, 165), (30, 150), (60, 95)]
    draw(
        "two-opt",
        "2-opt: two legs are replaced by two others and the path between is turned around",
        [
            Panel("two legs cross", at, [0, 1, 3, 2, 4, 5, 6], gone=[(1, 3), (2, 4)]),
            Panel("2-opt: the path between is turned", at, [0, 1, 2, 3, 4, 5, 6],
                  new_legs=[(1, 2), (3, 4)]),
        ],
    )  # fmt: skip


def or_opt() -> None:
    """A segment of up to three stops moves elsewhere."""
    at = [(30, 50), (95, 120), (125, 140), (160, 40), (265, 60), (250, 165), (120, 175), (40, 160)]
    draw(
        "or-opt",
        "Or-opt: a segment of two stops moves to another leg",
        [
            Panel("two stops on a detour", at, [0, 1, 2, 3, 4, 5, 6, 7],
                  gone=[(0, 1), (2, 3), (6, 7)]),
            Panel("Or-opt: they move to another leg", at, [0, 3, 4, 5, 6, 2, 1, 7],
                  new_legs=[(0, 3), (6, 2), (1, 7)]),
        ],
    )  # fmt: skip


def swap_paths() -> None:
    """Two neighbouring paths change places, which folds the tour in another way."""
    at = [(20, 110), (70, 45), (130, 40), (190, 55), (105, 165), (165, 175), (230, 160), (285, 105)]
    draw(
        "swap",
        "Two neighbouring paths of the tour change places",
        [
            Panel("a path, and the path after it", at, [0, 1, 2, 3, 4, 5, 6, 7], closed=False,
                  gone=[(0, 1), (3, 4), (6, 7)]),
            Panel("the second first", at, [0, 4, 5, 6, 1, 2, 3, 7], closed=False,
                  new_legs=[(0, 4), (6, 1), (3, 7)]),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    for picture in (remove_and_cover, exchange, two_opt, or_opt, swap_paths):
        picture()
