# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page: its sums, what its pictures are drawn from, and that names stay text."""
import json
import random
import re
import xml.dom.minidom

import pytest
from conftest import RECORDED, sample, step, window

import malleable
from malleable.convert import to_paraver, to_paraver_rows, to_perfetto
from malleable.figures import (Columns, cpu_seconds, draw, efficiencies, lanes, owners, rank_sums,
                               use)
from malleable.page import Part, page
from malleable.svg import BEGIN, to_svg


def test_efficiencies(write):
    trace = malleable.read(write(
        step(cpus=4), window([0, 0, 0, 1], [
            sample(0, work_s=1.5, mpi_s=0.5, cpus=3), sample(1, work_s=0.25, mpi_s=0.75)])))
    parts = efficiencies(cpu_seconds(trace).sum())
    assert parts["communication"] == 0.5
    assert parts["load_balance"] == 1.75 / 2
    assert parts["parallel"] == 1.75 / 4
    assert parts["parallel"] == pytest.approx(parts["mpi"] * parts["openmp"])


def test_windows_without_ranks_are_no_number(write):
    trace = malleable.read(write(step(), window([0, 1], elapsed_s=0)))
    parts = efficiencies(cpu_seconds(trace).sum())
    assert all(part != part for part in parts.values())
    assert "nan" not in "".join(page([Part(trace, None)])).split("<script")[0].lower()


def test_one_is_no_plural(write):
    trace = malleable.read(write(step(cpus=1, ranks=1), window([0], [sample(0)])))
    assert ", 1 rank, 1 CPU, 1 window;" in "".join(page([Part(trace, None)]))


def test_ranks_sums(write):
    trace = malleable.read(write(step(ranks=3), window([0, 1], [sample(0, cpus=0, work_s=1)]),
                                 window([0, 1], [sample(0, cpus=2, work_s=2), sample(1)])))
    sums = rank_sums(trace)
    assert list(sums["first"]) == [2, 1, 0] and list(sums["last"]) == [2, 1, 0]
    assert list(sums.work_s) == [3, 0, 0]


def test_gaps_between_windows_are_seen(write):
    trace = malleable.read(write(step(), window([0, 1], at_s=1), window([1, 1], at_s=3)))
    assert Columns.of(trace, 400).edges() == ([0, 1, 2, 3], [0, -1, 1])
    assert owners(trace)[1].tolist() == [[0, 1], [1, 1]]


def test_pictures_are_bounded(write):
    """Whatever the number of windows, CPUs and ranks."""
    choose = random.Random(1)
    cpus, ranks = 1024, 1000
    lines = [window([choose.randrange(-1, ranks) for _ in range(cpus)],
                    [sample(choose.randrange(ranks))]) for _ in range(450)]
    trace = malleable.read(write(step(cpus, ranks), *lines))
    columns, names, found = lanes(trace)
    assert columns.each == 3 and len(names) == 125 and names[1] == "ranks 8-15"
    assert found["work"].shape == (125, 150)
    assert owners(trace)[1].shape == (1024, 90)
    # Sums stay the same: of one rank of a row, on average.
    assert found["cpus"].sum() * 8 * 3 == pytest.approx(450)
    assert len(draw(trace, cpu_seconds(trace)).to_json()) < 4e6


def used(write, cpus=2, **more):
    """The second CPU is lent: its owner and two others used it."""
    return malleable.read(write(
        step(cpus, 3), window([0] + [1] * (cpus - 1), elapsed_s=2,
                              busy=[500, 250] + [0] * (cpus - 2),
                              borrowed=[1, 0, 500, 1, 2, 125], **more), window([0] * cpus)))


def test_lanes_tell_owners_and_borrowers_apart(write):
    owned, borrowed = use(used(write))
    assert owned.rank.tolist() == [[0, 0], [1, 0]]
    assert owned.part.tolist() == [[0.5, 0], [0.25, 0]]
    assert borrowed.rank.tolist() == [[-1, -1], [0, -1]]
    assert borrowed.part.tolist() == [[0, 0], [0.625, 0]]
    together, = use(used(write, 65))
    assert together.rank[1].tolist() == [0, 0] and together.part[1].tolist() == [0.875, 0]
    trace = used(write)
    lane = draw(trace, cpu_seconds(trace)).data[0]
    assert lane.name == "use of CPUs" and list(lane.y) == [0, 1, 2, 3]
    assert [list(row) for row in lane.text] == [
        ["rank 0 50 %", "rank 0 0 %"], [None, None], ["rank 1 25 %", "rank 0 0 %"],
        ["rank 0 50 %, rank 2 12 %", None]]
    # A rank's colour is the darker the longer it was busy there.
    assert [list(row) for row in lane.z] == [[3, 0], [None, None], [8, 0], [4, None]]


def test_each_rank_that_used_a_cpu_is_told(write):
    trace = used(write, 65)
    assert draw(trace, cpu_seconds(trace)).data[0].text[1][0] == (
        "rank 0 50 %, rank 1 25 %, rank 2 12 %")
    # Windows of several owners are in one column.
    lines = [window([index % 8], busy=[500]) for index in range(3000)]
    trace = malleable.read(write(step(1, 8), *lines))
    lane = draw(trace, cpu_seconds(trace)).data[0]
    assert lane.text[0][0] == "rank 0 25 %, rank 1 25 %"
    lines = [window([index // 2 % 2], busy=[500], borrowed=[0, 2 + index % 6, 100])
             for index in range(12000)]
    trace = malleable.read(write(step(1, 8), *lines))
    assert draw(trace, cpu_seconds(trace)).data[0].text[1][0] == (
        "rank 2 2 %, rank 3 2 %, rank 4 2 %, rank 5 2 %, and 2 more")


def test_without_busy_cpus_there_is_no_lane_of_them(write):
    trace = malleable.read(write(step(), window([0, 1], [sample(0)])))
    assert "use of CPUs" not in draw(trace, cpu_seconds(trace)).to_json()


def test_lanes_are_bounded(write):
    choose = random.Random(2)
    cpus = 256
    trace = malleable.read(write(step(cpus, 8), *(
        window([cpu // 32 for cpu in range(cpus)], busy=[choose.randrange(1001)] * cpus,
               borrowed=[choose.randrange(cpus), choose.randrange(8), 100])
        for _ in range(900))))
    part, = use(trace)
    assert part.rank.shape == (256, 300)
    assert len(draw(trace, cpu_seconds(trace)).to_json()) < 6e6


def slices_of_cpus(trace):
    return [(event["tid"], event["name"], event["ts"], event["dur"])
            for event in json.loads("".join(to_perfetto(trace)))["traceEvents"]
            if event["pid"] == 3 and event["ph"] == "X"]


def test_lanes_fit_into_their_window(write):
    """Perfetto cannot show slices of a track that overlap."""
    one = window([0, 1], elapsed_s=2, busy=[1000, 0], borrowed=[0, 1, 1000])
    assert slices_of_cpus(malleable.read(write(step(), one, one))) == [
        (0, "rank 0", 0, 1e6), (0, "rank 1, borrowed", 1e6, 1e6),
        (0, "rank 0", 2e6, 1e6), (0, "rank 1, borrowed", 3e6, 1e6)]


def test_lanes_are_in_perfetto_and_paraver(write):
    trace = used(write)
    assert slices_of_cpus(trace) == [
        (0, "rank 0", 0, 1e6), (1, "rank 1", 0, 0.5e6), (1, "rank 0, borrowed", 0.5e6, 1e6),
        (1, "rank 2, borrowed", 1.5e6, 0.25e6)]
    records = "".join(to_paraver(trace)).splitlines()
    assert records[0].endswith(":1(2):2:3(1:1,1:1,1:1):2(1:1,1:1)")
    states = [record for record in records if re.match(r"1:\d+:2:", record)]
    assert states == ["1:1:2:1:1:0:1000000000:3", "1:2:2:2:1:0:500000000:3",
                      "1:2:2:2:1:500000000:1500000000:4", "1:2:2:2:1:1500000000:1750000000:4"]
    assert "2:2:2:2:1:500000000:90001010:1" in records
    times = [int(record.split(":")[5]) for record in records[1:]]
    assert times == sorted(times)
    assert "LEVEL THREAD SIZE 5\n" in "".join(to_paraver_rows(trace))


def paths(text):
    return re.findall(r'<path fill="(.*?)" fill-opacity="(.*?)" d="(.*?)"', text)


def test_lanes_are_a_picture(write):
    """What looks alike is one part, and what was not used none."""
    lines = [window([0, 1], at_s=at_s, busy=[500, 200], borrowed=[1, 0, 500])
             for at_s in (1, 2.001)]
    last = window([0, 1], at_s=3.001, busy=[1000, 0])
    text = "".join(to_svg(malleable.read(write(step(2, 3), *lines, last))))
    xml.dom.minidom.parseString(text)
    assert paths(text) == [
        ("#0072b2", "0.6", "M62.0 34H488.7v14H62.0zM62.0 74H488.7v8H62.0z"),
        ("#0072b2", "1.0", "M488.7 34H702.0v14H488.7z"),
        ("#e69f00", "0.2", "M62.0 60H488.7v14H62.0z")]
    assert all(f">{name}<" in text for name in ("CPU 1", "rank 2", "0 s", "3 s"))


def test_a_picture_of_many_cpus_has_one_lane_each(write):
    text = "".join(to_svg(used(write, 65)))
    assert ("#0072b2", "1.0", "M62.0 52H488.7v14H62.0z") in paths(text)


def test_without_busy_cpus_there_is_no_picture(write):
    trace = malleable.read(write(step(), window([0, 1], [sample(0)])))
    with pytest.raises(malleable.Failure, match="does not tell how long CPUs were busy"):
        "".join(to_svg(trace))


def test_the_picture_in_the_documents_is_one_of_these():
    text = (RECORDED.parents[1] / "doc" / "lanes.svg").read_text()
    xml.dom.minidom.parseString(text)
    assert text.startswith(BEGIN) and len(paths(text)) > 2


def test_named_regions_have_a_lane(write):
    trace = malleable.read(write(
        step(), window([0, 1], [sample(0, regions={"io": [0.25, 0, 0, 0]}), sample(1)]),
        window([0, 1], [sample(0, regions={"<b>x": [1, 0, 0, 0]}),
                        sample(1, regions={"<b>x": [1, 0, 0, 0], "io": [0.5, 0, 0, 0]})])))
    lane = draw(trace, cpu_seconds(trace)).data[-1]
    assert list(lane.y) == ["&lt;b&gt;x", "io"]
    assert [list(row) for row in lane.z] == [[0, 1], [0.125, 0.25]]


def test_long_names_of_regions_fit_beside_their_lane(write):
    trace = malleable.read(write(
        step(), window([0, 1], [sample(0, regions={"<solve of pressure>": [1, 0, 0, 0]})])))
    figure = draw(trace, cpu_seconds(trace))
    assert list(figure.data[-1].y) == ["&lt;solve of pressure&gt;"]
    assert list(figure.layout.yaxis5.ticktext) == ["&lt;solv\u2026ure&gt;"]


def test_without_named_regions_there_is_no_lane_of_them(write):
    without = malleable.read(write(step(), window([0, 1], [sample(0)])))
    assert "named regions" not in draw(without, cpu_seconds(without)).to_json()


def test_named_regions_have_a_track_in_perfetto(write):
    trace = malleable.read(write(
        step(), window([0, 1], [sample(1, regions={"io": [0.25, 0, 0, 0]})]), window([0, 1]),
        window([0, 1], [sample(1, regions={"solve": [3, 0, 0, 0]})])))
    events = json.loads("".join(to_perfetto(trace)))["traceEvents"]
    found = [event for event in events if "named" in event["name"]]
    assert {event["name"] for event in found} == {"named regions of rank 1"}
    assert [event["args"] for event in found] == [
        {"io": 0.25, "solve": 0}, {"io": 0, "solve": 0}, {"io": 0, "solve": 1}]
    assert [event["ts"] for event in found] == [0, 1e6, 2e6]


def test_names_are_text(write):
    evil = "</script><img src=x onerror=alert(1)>&\"'"
    trace = malleable.read(write(step(step=evil, node=evil, policy=evil), window([0, 1]),
                                 name="<b>trace"))
    text = "".join(page([Part(trace, None)] * 2))
    assert "<img" not in text and "<b>trace" not in text
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;" in text
    assert len(re.findall("<script", text)) == 3


def test_figures_are_json_that_ends_no_script():
    part = Part(malleable.read(str(RECORDED)), None)
    figure, = part.figures()
    assert "<" not in figure
    assert {trace["name"] for trace in json.loads(figure)["data"]} == {
        "owners", "work", "cpus", "parallel efficiency", "load balance", "communication"}
