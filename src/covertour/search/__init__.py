"""Compiled heuristics: construction, improvement, large-neighbourhood search, LS1, LS2, two phases.

Every kernel works on a :class:`~covertour.search.state.State`: an instance as plain arrays and a
tour with all the counts that make changing it cheap.
"""
