"""Driving times instead of coordinates: a matrix, here with one-way streets, and who covers whom.

A row holds the minutes from one place to all others, so the way back may take longer.
"""

import covertour

names = ("depot", "market", "school", "harbour", "mill", "chapel")
minutes = [
    [0, 7, 12, 20, 9, 15],
    [9, 0, 6, 14, 11, 8],
    [12, 5, 0, 9, 16, 4],
    [18, 14, 10, 0, 22, 7],
    [9, 11, 18, 22, 0, 19],
    [15, 8, 4, 6, 20, 0],
]
covers = [[4], [0, 2], [1, 5], [5], [0], [2, 3]]
instance = covertour.Instance.from_matrix(
    minutes, sets=covers, depot=0, labels=names, name="deliveries"
)

result = covertour.solve(instance)
print(" -> ".join([*(names[place] for place in result.tour.places), names[0]]))
print(f"{result.length:g} minutes, stops at {len(result.tour)} of {instance.n} places")
covertour.write("deliveries.json", instance, result)
