"""The learned methods: the models of the paper and ours, their training and their use.

``inference`` and ``config`` need no torch, nor does ``training.export``; the rest is the extra
``train``.
"""
