# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where memory is, beside CPU time: before and after moves, and that the page shows it."""
import json

import pytest
from conftest import step, window

import malleable
from malleable.files import Failure
from malleable.memory import draw_memory, memory
from malleable.page import Part, page

BEFORE = window([0, 0, 1, 1], busy=[1000, 500, 500, 0], borrowed=[3, 0, 500],
                pages=[0, 0, 900, 0, 1, 100, 1, 1, 50])
MOVED = window([1, 0, 0, 1], busy=[1000, 0, 500, 0])
AFTER = window([1, 0, 0, 1], busy=[0, 0, 500, 500], pages=[1, 0, 30, 1, 1, 10])


def rounded(parts):
    return {name: [[round(float(value), 3) for value in row] for row in values]
            for name, values in parts.items()}


def test_pages_and_cpu_time_before_and_after_moves(write):
    found = memory(malleable.read(write(step(4, numa=[0, 0, 1, 1]), BEFORE, MOVED, AFTER)))
    assert found.nodes == [0, 1] and found.ranks == ["rank 0", "rank 1"]
    assert rounded(found.parts) == {
        "pages at first": [[0.9, 0.1], [0, 1]],
        "CPU time at first": [[0.75, 0.25], [0, 1]],
        "pages in the end": [[0.9, 0.1], [0.75, 0.25]],
        "CPU time in the end": [[0, 1], [0.667, 0.333]]}


def test_four_columns_fit_on_a_phone(write):
    """60 pixels each, where a letter has half of the font's size."""
    figure = draw_memory(memory(malleable.read(write(step(4, numa=[0, 0, 1, 1]), BEFORE, MOVED,
                                                     AFTER))))
    lines = [(line, title.font.size) for title in figure.layout.annotations
             for line in title.text.split("<br>")]
    # Titles of axes are larger than the rest.
    lines += [(axis.title.text or "", 1.2 * figure.layout.font.size)
              for axis in figure.select_xaxes()]
    assert len(lines) == 16
    assert all(0.5 * size * len(line) <= 60 for line, size in lines)


def test_where_nothing_moves_there_is_one_of_each(write):
    found = memory(malleable.read(write(step(4, numa=[0, 0, 2, 2]), BEFORE, BEFORE)))
    assert rounded(found.parts) == {"pages": [[0.9, 0.1, 0], [0, 1, 0]],
                                    "CPU time": [[0.75, 0, 0.25], [0, 0, 1]]}
    figure = draw_memory(found)
    assert [(trace.name, list(trace.x)) for trace in figure.data if trace.type == "bar"] == [
        ("NUMA node 0", [0.9, 0]), ("NUMA node 1", [0.1, 1]), ("NUMA node 2", [0, 0]),
        ("NUMA node 0", [0.75, 0]), ("NUMA node 1", [0, 0]), ("NUMA node 2", [0.25, 1])]


def test_many_ranks_share_rows(write):
    found = memory(malleable.read(write(
        step(1, 300), window([0], pages=[value for rank in range(300)
                                         for value in (rank, rank % 2, 1)]))))
    assert len(found.ranks) == 100 and found.ranks[-1] == "ranks 297-299"
    assert rounded(found.parts)["pages"][0] == [0.667, 0.333]
    # Nobody was seen to compute.
    assert draw_memory(found).data[-1].z[0] == [None, None]


def test_the_page_has_it_where_ranks_looked(write):
    def figures(*lines, **more):
        text = "".join(page([Part(malleable.read(write(step(4, **more), *lines)), None)]))
        found = json.loads(text.split('id="figures">')[1].split("</script>")[0])
        assert text.count('<div class="plot">') == len(found)
        return len(found), "on one NUMA node" in text
    assert figures(BEFORE, numa=[0, 0, 1, 1]) == (2, False)
    assert figures(window([0] * 4, pages=[0, 0, 1])) == (1, True)
    assert figures(window([0] * 4)) == (1, False)


@pytest.mark.parametrize("pages", [{}, [0, 0], [2, 0, 1], [0, 1024, 1], [0, 0, 65537], [0, 0, -1]])
def test_wrong_pages_are_refused(write, pages):
    with pytest.raises(Failure, match="line 2: where pages are is out of range"):
        malleable.read(write(step(), window([0, 1], pages=pages)))
