"""The experiments of the Attention-dynamic paper, measured again with covertour: tables, figures.

``python -m experiments all --quick`` from the root of the repository; see README.md here. Not part
of the package: covertour is used as any user would.
"""
