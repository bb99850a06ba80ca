#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what malleable-convert made of a trace as its readers do, and compares every figure with
the trace. Prints what differs, and exits with 1 then.

Usage: t/converted.py csv|perfetto|paraver TRACE FILE
"""
import csv
import json
import os
import re
import sys

TIMES = ("work_s", "serial_s", "mpi_s", "barrier_s")


def fail(what):
    sys.exit(f"# {what}")


def same(what, found, wanted, near=2e-6):
    if abs(found - wanted) > near:
        fail(f"{what}: {found}, not {wanted}")


def read_trace(path):
    """The step, and the windows with where they begin and end."""
    with open(path, encoding="utf-8") as file:
        step, *lines = [json.loads(line) for line in file]
    windows, end = [], 0
    for line in lines:
        if line["type"] == "window":
            end = max(end + line["elapsed_s"], line["at_s"])
            windows.append(dict(line, begin=end - line["elapsed_s"], end=end))
    return step, windows


def numbers(text):
    """0-2,5 as a set."""
    parts = [part.split("-") for part in text.split(",") if part]
    return {number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)}


def owned(step, window, rank):
    return {cpu for cpu, owner in zip(step["cpus"], window["owner"]) if owner == rank}


def check_csv(step, windows, path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wanted = [(number, window, rank) for number, window in enumerate(windows, 1)
              for rank in window["ranks"]]
    same("rows", len(rows), len(wanted))
    for row, (number, window, rank) in zip(rows, wanted):
        for name, value in (("window", number), ("begin_s", window["begin"]),
                            ("end_s", window["end"]), ("rank", rank["rank"]),
                            ("cpus", rank["cpus"]), ("team", rank["team"]), ("most", rank["most"]),
                            ("phases", rank["phases"]), ("region_s", rank["region_s"]),
                            *((time, rank[time]) for time in TIMES)):
            same(f"window {number}, {name}", float(row[name]), value)
        if numbers(row["cpu_list"]) != owned(step, window, rank["rank"]):
            fail(f"window {number}, CPUs: {row['cpu_list']}")


def check_perfetto(step, windows, path):
    with open(path, encoding="utf-8") as file:
        root = json.load(file)
    if root["otherData"] != {name: step[name] for name in ("step", "node", "policy")}:
        fail(root["otherData"])
    events = root["traceEvents"]
    for event in events:
        wanted = {"M": {"name", "pid", "tid", "args"}, "C": {"name", "pid", "ts", "args"},
                  "X": {"name", "pid", "tid", "ts", "dur"}}[event["ph"]]
        if not wanted <= event.keys() or event.get("dur", 0) < 0 or event.get("ts", 0) < -1e-3:
            fail(f"no trace event: {event}")
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
             if event["name"] == "thread_name"}
    if set(names.values()) != {f"rank {rank}" for rank in range(step["ranks"])} | {
            f"CPU {cpu}" for cpu in step["cpus"]}:
        fail(f"tracks: {names}")
    slices = [event for event in events if event["ph"] == "X"]
    of_ranks = [event for event in slices if event["name"] == "window"]
    wanted = [(window, rank) for window in windows for rank in window["ranks"]]
    same("windows", len(of_ranks), len(wanted))
    for event, (window, rank) in zip(of_ranks, wanted):
        same("rank", event["tid"], rank["rank"])
        same("begin", event["ts"], window["begin"] * 1e6, 0.01)
        same("length", event["dur"], window["elapsed_s"] * 1e6, 0.01)
        for name in TIMES + ("cpus", "team", "phases", "region_s"):
            same(name, event["args"][name], rank[name])
    for name in ("computing", "MPI"):
        same(name, sum(event["dur"] for event in slices if event["name"] == name),
             1e6 * sum(rank["mpi_s"] if name == "MPI" else window["elapsed_s"] - rank["mpi_s"]
                       for window, rank in wanted), 1)
    for index, cpu in enumerate(step["cpus"]):
        lane = [event for event in slices if event["pid"] == 2 and event["tid"] == cpu]
        for window in windows:
            middle = (window["begin"] + window["end"]) * 5e5
            owners = [event["name"] for event in lane
                      if event["ts"] <= middle <= event["ts"] + event["dur"]]
            if owners != [f"rank {window['owner'][index]}"] * (window["owner"][index] >= 0):
                fail(f"CPU {cpu} at {middle} us: {owners}")


def check_paraver(step, windows, path):
    base = os.path.splitext(path)[0]
    with open(path, encoding="utf-8") as file:
        head, *records = file.read().splitlines()
    tasks = ",".join(["1:1"] * step["ranks"])
    match = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:1\((\d+)\):1:"
                         + re.escape(f"{step['ranks']}({tasks})"), head)
    if not match or int(match[2]) != len(step["cpus"]):
        fail(f"head: {head}")
    same("end", int(match[1]), windows[-1]["end"] * 1e9, 2)
    records = [list(map(int, record.split(":"))) for record in records]
    if [record[5] for record in records] != sorted(record[5] for record in records):
        fail("the records are not in the order of their times")
    with open(base + ".pcf", encoding="utf-8") as file:
        types = {int(number) for number in re.findall(r"^0 +(9\d+) ", file.read(), re.MULTILINE)}
    figures, state_ns = {}, {1: 0, 2: 0}
    for kind, cpu, application, task, thread, at, *rest in records:
        if application != 1 or thread != 1 or not 0 <= cpu <= len(step["cpus"]):
            fail(f"no place: {kind}:{cpu}:{application}:{task}:{thread}:{at}")
        if kind == 1:
            state_ns[rest[1]] += rest[0] - at
        else:
            figures[at, task - 1] = dict(zip(rest[::2], rest[1::2]))
            if set(figures[at, task - 1]) != types:
                fail(f"types of events: {rest[::2]}, not {types}")
    wanted = [(window, rank) for window in windows for rank in window["ranks"]]
    same("events", len(figures), len(wanted))
    for (_, task), (window, rank) in zip(figures, wanted):
        same("rank", task, rank["rank"])
    for found, (_, rank) in zip(figures.values(), wanted):
        same("CPUs", found[90001000], rank["cpus"])
        same("threads", found[90001005], rank["team"])
        for index, name in enumerate(TIMES, 90001001):
            same(name, found[index], rank[name] * 1e6, 1)
    mpi = sum(rank["mpi_s"] for _, rank in wanted)
    same("in MPI", state_ns[2] / 1e9, mpi, 1e-5)
    same("computing", state_ns[1] / 1e9,
         sum(window["elapsed_s"] for window, _ in wanted) - mpi, 1e-5)
    with open(base + ".row", encoding="utf-8") as file:
        rows = file.read()
    if f"LEVEL THREAD SIZE {step['ranks']}\nrank 0\n" not in rows:
        fail(f"rows: {rows}")


def main():
    kind, trace, path = sys.argv[1:]
    {"csv": check_csv, "perfetto": check_perfetto, "paraver": check_paraver}[kind](
        *read_trace(trace), path)


main()
