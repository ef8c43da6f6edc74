"""How far annotators agree: what a job computes from verdicts, and how pages and files print it.

Always on verdicts as their annotators submitted them, before any adjudication.
"""
