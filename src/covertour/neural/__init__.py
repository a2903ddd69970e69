"""The learned methods: the models of the paper and ours, their decoding and their training.

``config``, ``places``, ``runs`` and ``runtime`` need no torch; the rest is the extra ``train``.
"""
