"""The page in Chromium: how soon a tour is on the screen, and how it does with many places.

    python benchmarks/web_page.py                 150 places and 50,000
    python benchmarks/web_page.py --places 20000

Needs playwright and Chromium; starts a server of its own on this machine and ends it.
"""

from __future__ import annotations

import argparse
import shutil

from playwright.sync_api import Page, sync_playwright
from web_load import server

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

FRAMES = """async act => {
  const frames = [];
  let last = performance.now(), watching = true;
  const frame = (now) => {
    frames.push(now - last);
    last = now;
    if (watching) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const map = document.getElementById("map");
  const at = (k) => ({ clientX: 400 + 4 * k, clientY: 400 + 2 * k, bubbles: true, buttons: 1 });
  if (act === "pan") {
    map.dispatchEvent(new MouseEvent("mousedown", at(0)));
    for (let k = 1; k <= 60; k++) {
      map.dispatchEvent(new MouseEvent("mousemove", at(k)));
      await new Promise(requestAnimationFrame);
    }
    map.dispatchEvent(new MouseEvent("mouseup", at(60)));
  } else document.querySelector(".leaflet-control-zoom-in").click();
  await new Promise((resolve) => setTimeout(resolve, 800));
  watching = false;
  frames.sort((a, b) => a - b);
  return [frames[frames.length >> 1], frames[frames.length - 1]];
}"""

SLIDER = """async () => {
  document.getElementById("tab-rule").click();
  const slider = document.getElementById("reach-slider"), spent = [];
  for (let k = 0; k < 10; k++) {
    const from = performance.now();
    slider.value = String(Number(slider.value) + 2);
    slider.dispatchEvent(new Event("input"));
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    spent.push(performance.now() - from);
  }
  return spent.sort((a, b) => a - b)[5];
}"""


def solved(page: Page, seconds: str) -> int:
    """Search for so long; the milliseconds from the click to the first tour on the screen."""
    ended = int(page.locator("html").get_attribute("data-ended") or 0)
    page.evaluate("delete document.documentElement.dataset.first")
    page.locator("#time").select_option(seconds)
    page.locator("#solve").click()
    page.wait_for_selector(f'html[data-ended="{ended + 1}"]', timeout=300_000)
    return int(page.locator("html").get_attribute("data-first") or -1)


def main() -> None:
    parser = argparse.ArgumentParser(description="The page in Chromium.")
    parser.add_argument("--places", type=int, default=50_000)
    n = parser.parse_args().places
    with server() as (_, url), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(url)
        page.locator(".example").nth(1).click()
        page.wait_for_selector("#facts dd")
        solved(page, "1")  # the processes of the server are up then
        first = []
        for _ in range(5):
            page.locator("#undo").click()
            first.append(solved(page, "1"))
        print(f"150 places: first tour {sorted(first)} ms after the click")
        rows = "\n".join(f"P{k},{(k * 7919) % 9973},{(k * 104729) % 9967}" for k in range(n))
        content = ("name,x,y\n" + rows).encode()
        file = {"name": "many.csv", "mimeType": "text/csv", "buffer": content}
        page.locator("#file").set_input_files(file)
        page.wait_for_selector(f"#facts dd:has-text('{n:,}')", timeout=300_000)
        print(f"{n:,} places: first tour {solved(page, '5')} ms after the click")
        for act in ("pan", "zoom"):
            median, worst = page.evaluate(FRAMES, act)
            print(f"  {act}: frames of {median:.0f} ms at the median, {worst:.0f} ms at worst")
        print(f"  slider: circles and share {page.evaluate(SLIDER):.0f} ms after a step")
        browser.close()


if __name__ == "__main__":
    main()
