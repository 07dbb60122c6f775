"""Shared parts of list screens: key table, list table, and key handling."""
