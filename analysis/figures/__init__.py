"""Figures of papers: their files, and how they are drawn."""
