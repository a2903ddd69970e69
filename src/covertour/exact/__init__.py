"""Proofs: exact solutions and valid bounds."""
