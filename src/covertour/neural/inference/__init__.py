"""Decoding the shipped networks without torch."""
