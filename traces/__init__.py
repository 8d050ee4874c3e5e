"""Trace files: what a workload did, event by event, as Parquet. Rust writes and checks them (`traces/src/store`).

Any Parquet reader opens a trace: its rows are the events, its metadata entry ``memwalk.contents`` is JSON that describes them.

`memwalk.traces.storage` has the commands with which programs ask something of storage.
"""
