"""The tables of the documents that stand for simulations, made from the results of experiments.

A document says `<!-- table NAME -->` on the line above such a table. Each module here has the tables of one subject;
`python -m docs.tables` simulates what they need and writes them, or compares them with what stands there. What text says beside a table
is written by people.
"""
