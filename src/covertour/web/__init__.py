"""The server of ``covertour serve``: a page for planners, an HTTP API for developers.

The server itself only passes messages; files are read and tours are searched for in processes of
their own, under limits of time and memory, so that nothing a client sends can hold up or end it.
"""
