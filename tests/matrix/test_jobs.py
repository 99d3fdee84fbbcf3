"""Jobs of other threads: done, called off, interrupted."""

import signal
import threading
import time

import pytest

from orthoselect.matrix import threads
from orthoselect.matrix.threads import Job, Pool, start_thread


def in_a_while(work):
    threading.Timer(0.1, work).start()


def test_errors_reach_who_waits():
    job = Job(lambda: 1 / 0)
    assert start_thread(job.run)
    with pytest.raises(ZeroDivisionError):
        job.result()
    assert job.result() is None


def test_what_is_called_off_is_never_done():
    done = []
    job = Job(lambda: done.append(1))
    assert job.cancel()
    job.run()
    assert not done


def test_what_has_begun_is_not_called_off():
    begun, go_on = threading.Event(), threading.Event()

    def work():
        begun.set()
        assert go_on.wait(10)
        return 5

    job = Job(work)
    start_thread(job.run)
    assert begun.wait(10)
    assert not job.cancel()
    in_a_while(go_on.set)
    job.wait()
    assert go_on.is_set()
    assert job.result() == 5


@pytest.fixture(params=[True, False], ids=["interrupting", "restarting"])
def signals(request):
    """Let Ctrl-C interrupt what it comes upon, or have that restart, as some libraries do."""
    signal.siginterrupt(signal.SIGINT, request.param)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals")
@pytest.mark.usefixtures("signals")
def test_a_wait_that_is_interrupted_can_be_taken_up_again():
    begun, go_on = threading.Event(), threading.Event()

    def work():
        begun.set()
        return go_on.wait(20)

    job = Job(work)
    start_thread(job.run)
    assert begun.wait(10)
    main = threading.get_ident()
    in_a_while(lambda: signal.pthread_kill(main, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        job.wait()
    assert not go_on.is_set()
    in_a_while(go_on.set)
    job.wait()
    assert job.result() is True  # it was waited for, and ended as it should


def test_a_pool_has_no_more_threads_than_it_may():
    seen, lock, together = set(), threading.Lock(), threading.Barrier(2, timeout=10)

    def work():
        with lock:
            seen.add(threading.get_ident())
        together.wait()

    pool = Pool(2)
    for _ in range(3):
        for job in pool.submit(work, 6):
            job.result()
    assert len(seen) == 2


def test_without_threads_there_are_no_jobs(monkeypatch):
    def refuse(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads._thread, "start_new_thread", refuse)
    assert Pool(2).submit(time.time, 2) == []
