"""Values made once: no lock that threads or forked processes would wait for."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import orthoselect


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_forked_while_a_thread_makes_a_value_can_make_its_own():
    script = """
        import os, signal, threading
        from orthoselect.lazy import lazy

        inside, go_on = threading.Event(), threading.Event()

        class Thing:
            @lazy
            def value(self):
                if threading.current_thread() is not threading.main_thread():
                    inside.set()
                    go_on.wait(20)
                return 1

        other = threading.Thread(target=lambda: Thing().value)
        other.start()
        inside.wait(20)
        child = os.fork()
        if child == 0:
            signal.alarm(10)  # it would wait forever
            os._exit(Thing().value - 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        go_on.set()
        other.join()
        """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_nothing_here_has_the_lock_of_functools():
    folder = Path(orthoselect.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert len(texts) > 100
    assert not [name for name, text in texts.items() if "@cached_property" in text]
