"""What the command says beside its answer."""

from orthoselect.cli.terminal import Bar, _TimeLeft


def test_the_time_left_is_the_one_that_was_told():
    """Tasks of a study cost more or less; the pace of the bar does not know how much."""
    clock = [100.0]
    column = _TimeLeft(compact=True)
    bar = Bar(column, get_time=lambda: clock[0])
    bar.add_task("", total=None, newest="")
    (task,) = bar.tasks

    bar.show(9, 10, "the slow one is next", left=125.0)
    assert column.render(task).plain == "02:05"
    clock[0] += 5
    assert column.render(task).plain == "02:00"
    bar.show(9, 10, "", left=3725.0)
    assert column.render(task).plain == "1:02:05"
    bar.show(9, 10, "")
    assert column.render(task).plain == "--:--"
