"""What is asked: places, distances, coverage, tours, and the referee; it knows no solver."""
