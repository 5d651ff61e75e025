"""Watching the library at work: how long it may take, who is told how far it is, and Ctrl-C, which
ends the search and keeps the best plan so far, or raises KeyboardInterrupt where there is none yet."""

from __future__ import annotations

import sys
import threading
import time

from arenaut import arrays, records

FIRST_SHOWN, BETWEEN = 1.0, 0.1  # seconds: no flicker for quick work
ALL = 1000  # thousandths of the time
CALLBACK = dict(records.PlanOptions._fields_)["progress"]


class Watch:
    """Give `callback` to a plan's options, and call the library inside `with`, once or several times:
    the time is that of all of them. `raised` is what the user's own callback raised, for after the
    call; nothing may be raised through the library, so Ctrl-C is only noted there."""

    def __init__(self, progress=None, seconds=None):
        import signal  # a sixth of the time that importing arenaut would take
        self.signal = signal
        if not (progress in (None, True, False) or callable(progress)):
            arrays.refuse("progress", None, progress, "a function, True, False or None")
        self.progress = progress if callable(progress) else None
        self.seconds = seconds
        self.raised = None
        self.interrupted = self.heard = False
        self.refused = False  # to go on, by the user's function
        self.started = None
        self.bar = None
        self.shows = progress is True or (progress is None and can_show())
        self.catches = (threading.current_thread() is threading.main_thread()
                        and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        self.shown = 0.0
        # Nobody to tell, and nothing to wait for: the planner need not ask for the interpreter.
        needed = self.progress or seconds is not None or self.shows or self.catches
        self.callback = CALLBACK(self.look) if needed else CALLBACK()

    def __enter__(self):
        self.interrupted = self.heard = False
        if self.started is None:
            self.started = now()
        if self.catches:
            self.signal.signal(self.signal.SIGINT, self.interrupt)
        return self

    def __exit__(self, *_):
        if self.catches:
            self.signal.signal(self.signal.SIGINT, self.signal.default_int_handler)
        if self.bar:
            self.bar.close()
        if self.interrupted and not self.heard:  # nothing was left to stop, and Ctrl-C must not be lost
            raise KeyboardInterrupt

    def interrupt(self, *_):
        self.interrupted = True

    @property
    def elapsed(self):
        return now() - self.started

    def look(self, _context, progress):
        """The planner's question whether to go on; nothing may be raised through it."""
        elapsed = self.elapsed
        try:
            if self.interrupted or self.refused or self.raised:
                self.heard = True
                return records.INTERRUPTED
            if self.progress or (self.shows and elapsed - self.shown >= BETWEEN
                                 and elapsed >= FIRST_SHOWN):
                self.tell(progress.contents, elapsed)
        except BaseException as raised:
            self.raised = raised
        if self.interrupted or self.refused or self.raised:
            self.heard = True
            return records.INTERRUPTED
        if self.seconds is not None and elapsed >= self.seconds * (progress.contents.share or ALL) / ALL:
            return records.OUT_OF_TIME
        return records.GO_ON

    def tell(self, progress, elapsed):
        best = None if progress.best == records.UNPLACED else progress.best
        if self.progress:
            if self.progress(best, progress.bound, elapsed) is False:
                self.refused = True
            return
        self.shown = elapsed
        self.bar = self.bar or bar()
        self.bar.show(line(best, progress.bound, elapsed))


def line(best, bound, elapsed):
    if best is None and not bound:
        return f"no plan yet  {elapsed:.1f} s"
    if best is None:
        return f"no plan yet  bound {bound:,}  {elapsed:.1f} s"
    gap = (best - bound) / bound if bound else 0
    return f"best {best:,}  bound {bound:,}  gap {gap:.1%}  {elapsed:.1f} s"


def now():
    return time.monotonic()


def in_notebook():
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


def can_show():
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def bar(total=None):
    """A bar of tqdm's where that is installed, else a line that is written over."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Line()
    return TqdmBar(tqdm, total)


class TqdmBar:
    def __init__(self, tqdm, total):
        form = "{desc}" if total is None else "{desc}  {n_fmt}/{total_fmt}  {elapsed}"
        self.bar = tqdm(total=total, bar_format=form, leave=False)

    def show(self, text, done=0):
        self.bar.n = done
        self.bar.set_description_str(text)

    def close(self):
        self.bar.close()


class Line:
    def show(self, text, done=0):
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def close(self):
        self.show("")
