"""From a CSV of places to a map: the shortest round trip within 25 km of every village.

The same on the command line: covertour solve villages.csv --radius 25 --output map.html
"""

from pathlib import Path

import covertour

here = Path(__file__).parent
instance = covertour.read(here / "villages.csv", radius=25)
result = covertour.solve(instance)

print(result)
for number, place in enumerate(result.tour.places, start=1):
    print(f"{number:2} {instance.label(place)}")

covertour.write("map.html", instance, result)
print("Open map.html in a browser.")
