"""The learned methods: the models of the paper and ours, their decoding and their training.

``config`` and this module need no torch; everything else here is part of the extra ``train``.
"""
