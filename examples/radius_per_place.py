"""Each place reaches as far as its radius says: transmitters of different strength on a grid.

Also shows a depot, a place that must not be a stop, and who serves whom in the end.
"""

import covertour

coordinates = [(x, y) for y in range(6) for x in range(6)]
radius = [2.0 if (x + y) % 3 == 0 else 1.0 for x, y in coordinates]
instance = covertour.Instance.from_coordinates(
    coordinates, radius=radius, depot=0, forbidden=[14], name="transmitters"
)

result = covertour.solve(instance, seed=1)
assert covertour.verify(instance, result.tour).ok
print(result)

served = covertour.service(instance, result.tour)
for index, place in enumerate(result.tour.places):
    covered = [p for p in range(instance.n) if served.stop[p] == index]
    print(f"stop {index + 1} at {coordinates[place]} serves {len(covered)} places")
print(f"the farthest place is {served.distance.max():.2f} from its stop")
