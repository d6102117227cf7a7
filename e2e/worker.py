"""A thread whose failure is not lost."""

import threading

import kube


class Worker(threading.Thread):
    """Calls a function beside everything else. What it raises is raised again by finish(), in
    the thread that waits for it."""

    def __init__(self, function, *args):
        super().__init__(name=getattr(function, "__name__", "worker"), daemon=True)
        self._function = function
        self._args = args
        self.error = None

    def run(self):
        try:
            self._function(*self._args)
        except BaseException as e:
            self.error = e

    def check(self):
        """Raises what the function raised, if it did."""
        if self.error:
            raise self.error

    def finish(self, timeout=None):
        """Waits for the function's end, and raises what it raised."""
        self.join(timeout)
        self.check()
        if self.is_alive():
            raise kube.Timeout(f"{self.name} did not end within {timeout:g} s")
