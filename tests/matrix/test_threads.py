"""Threads: users' limits hold, several selections share, nothing depends on their number."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from orthoselect import select
from orthoselect.matrix import threads

pytestmark = pytest.mark.usefixtures("two_threads")


def blas_limits():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def table(N=4000, n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, n))
    return X, (X[:, 0] + X[:, 7] + rng.normal(size=N) > 0).astype(int)


def add_up(n_tasks=200, fail_at=None):
    def work(task, total):
        if fail_at is not None and task >= fail_at:
            raise KeyboardInterrupt
        total[0] += task

    return float(threads.run_tasks(range(n_tasks), work, ())[0])


@pytest.mark.parametrize("n_tasks", [0, 1, 2, 3, 1000])
def test_every_task_is_done_once(n_tasks):
    assert add_up(n_tasks) == sum(range(n_tasks))


def test_shared_totals_are_written_in_place():
    def work(task, total):
        total[0][task] = task

    done = threads.run_tasks(range(100), work, (100,), shared=True)
    assert done[0].tolist() == list(range(100))


def test_blas_gets_its_limit_back():
    before = blas_limits()
    add_up()
    with pytest.raises(KeyboardInterrupt):
        add_up(fail_at=50)
    assert blas_limits() == before


def test_limits_of_threadpoolctl_are_respected():
    with threadpool_limits(1):
        assert threads.n_threads() == 1
        add_up()
        assert set(blas_limits()) == {1}


def test_limits_of_the_environment_are_respected():
    code = "from orthoselect.matrix.threads import n_threads; print(n_threads())"
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    out = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "1"


def test_as_many_threads_as_allowed_and_no_more_than_processors(monkeypatch):
    monkeypatch.setattr(threads, "_processors", lambda: 2)
    assert threads.n_threads() == 2
    monkeypatch.setattr(threads, "_processors", lambda: 1)
    assert threads.n_threads() == 1


def test_number_of_threads_changes_nothing():
    X, y = table()
    many = select(X, y, 10)
    with threadpool_limits(1):
        one = select(X, y, 10)
    assert one.features == many.features
    assert one.gains == many.gains  # to the last digit: tasks are added up in a fixed order


def test_gains_are_the_same_in_every_run():
    X, y = table(30_000, 20)
    assert len({tuple(select(X, y, 5).gains) for _ in range(6)}) == 1


def test_selections_side_by_side_agree_and_leave_blas_as_it_was():
    X, y = table()
    before, expected, found = blas_limits(), select(X, y, 10), []
    workers = [threading.Thread(target=lambda: found.append(select(X, y, 10))) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [path.features for path in found] == [expected.features] * 6
    assert blas_limits() == before


def in_a_thread(work):
    found = []
    worker = threading.Thread(target=lambda: found.append(work()))
    worker.start()
    worker.join()
    return found[0]


def limits_while_held():
    with threads.single_threaded_blas():
        return blas_limits()


def test_blas_is_held_to_one_thread_from_whichever_thread():
    before = blas_limits()
    assert set(limits_while_held()) == {1}
    assert set(in_a_thread(limits_while_held)) == {1}
    assert set(limits_while_held()) == {1}
    with threadpool_limits(max(before)):  # which only this thread may change, by threadpoolctl
        assert set(in_a_thread(limits_while_held)) == {1}
    assert blas_limits() == before == in_a_thread(blas_limits)


def test_the_last_holder_gives_back_what_the_first_has_taken():
    before, first_is_in, last_is_in = blas_limits(), threading.Event(), threading.Event()

    def hold_last():
        first_is_in.wait(10)
        with threads.single_threaded_blas():
            last_is_in.set()
            first_is_out.wait(10)

    first_is_out = threading.Event()
    last = threading.Thread(target=hold_last)
    last.start()
    with threads.single_threaded_blas():
        first_is_in.set()
        assert last_is_in.wait(10)
    first_is_out.set()
    last.join()
    assert blas_limits() == before


def test_works_in_a_forked_child():
    joblib = pytest.importorskip("joblib")
    X, y = table(1000, 50)
    select(X, y, 3)  # the parent's pool exists before the children do
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(select)(X, y, 3) for _ in range(4))
    assert [path.features for path in found] == [select(X, y, 3).features] * 4


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_pool_is_made_anew_after_a_fork():
    X, y = table(1000, 300)
    select(X, y, 3)
    child = os.fork()
    if child == 0:
        os._exit(0 if len(select(X, y, 3)) == 3 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("N", [2000, 12000, 40000])
def test_numbers_as_response_do_not_depend_on_the_number_of_threads_either(N):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 30)), rng.normal(size=N)
    gains = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            gains.append(select(X, y, 15).gains)
    assert gains[0] == gains[1]


def interrupted_at(monkeypatch, calls):
    """Let Ctrl-C come right after limits were set for the n-th time."""
    real, seen = threads._set_limits, []

    def call(limits):
        real(limits)
        seen.append(limits)
        if len(seen) == calls:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threads, "_set_limits", call)


@pytest.mark.parametrize("calls", [1, 2])
def test_ctrl_c_while_limits_are_set_leaves_them_as_they_were(calls, monkeypatch):
    before = blas_limits()
    X, y = np.random.default_rng(0).normal(size=(2, 500, 9))
    with monkeypatch.context() as patched:
        interrupted_at(patched, calls)
        with pytest.raises(KeyboardInterrupt):
            select(X, y[:, 0], 3)
    assert blas_limits() == before
    select(X, y[:, 0], 3)
    assert blas_limits() == before


def test_who_is_kept_from_letting_go_is_forgotten():
    before = blas_limits()
    threads.single_threaded_blas().__enter__()  # and never left
    assert blas_limits() == before
    holder = threads.single_threaded_blas()
    holder.__enter__()
    with threads.single_threaded_blas._lock:  # collected while limits are being set
        del holder
    assert set(blas_limits()) == {1}
    with threads.single_threaded_blas():
        assert set(blas_limits()) == {1}
    assert blas_limits() == before


def test_selections_go_on_in_a_thread_when_the_main_one_has_ended():
    script = """
        import threading, numpy as np
        from orthoselect import RowBlocks, select

        X = np.random.default_rng(0).normal(size=(40000, 150))
        y = X[:, 3] + X[:, 7] + X[:, 20:60].sum(axis=1)

        def work():
            threading.main_thread().join()
            blocks = RowBlocks(lambda: (X[start : start + 8000] for start in range(0, 40000, 8000)))
            print(select(X, y, 3).features == select(blocks, y, 3).features)

        threading.Thread(target=work).start()
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
