"""The learned methods: the models of the paper and ours, their decoding and their training.

``card``, ``config``, ``network``, ``places``, ``polish``, ``problem``, ``runs``, ``runtime`` and
``shipped`` need no torch; the rest is the extra ``train``.
"""
