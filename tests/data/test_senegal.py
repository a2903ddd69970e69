from covertour import read
from covertour.data import demo_path


def test_the_example_is_senegal_from_dakar_with_unique_names():
    instance = read(demo_path(), radius=20)
    assert instance.metric == "haversine"
    assert instance.n == 153
    assert instance.labels is not None
    assert len(set(instance.labels)) == instance.n
    assert instance.depot is not None
    assert instance.label(instance.depot) == "Dakar"
    longitude, latitude = instance.coordinates.T
    assert -17.6 < longitude.min() < longitude.max() < -11.3
    assert 12.3 < latitude.min() < latitude.max() < 16.7
