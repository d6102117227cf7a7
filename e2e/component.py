"""One program of the control plane as a process."""

import signal
import subprocess


class Component:
    """One program of the control plane: started with a log file of its own, ended by pid."""

    def __init__(self, name, argv, log):
        self.name = name
        self._argv = [str(a) for a in argv]
        self._log = log
        self._process = None

    @property
    def pid(self):
        """The process id while it runs, else None."""
        return self._process.pid if self.running else None

    @property
    def running(self):
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self):
        """Starts it, in a session of its own so that a Ctrl-C reaches only us; the kernel ends
        it if we are killed."""
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *self._argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def signal(self, number):
        """Sends a signal, if it runs."""
        if self.running:
            self._process.send_signal(number)

    def kill(self):
        """Ends it at once, as a crash would."""
        self.signal(signal.SIGKILL)
        if self._process:
            self._process.wait()

    def stop(self, grace=5):
        """Asks it to end, and ends it after `grace` seconds."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            if self._process:
                self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()

    def pause(self):
        """SIGSTOP: it is there, connections stay open, and nothing answers."""
        self.signal(signal.SIGSTOP)

    def resume(self):
        """SIGCONT."""
        self.signal(signal.SIGCONT)

    def tail(self, lines=15):
        """The last words of its log."""
        with open(self._log, "rb") as f:
            return "\n".join(f.read()[-20_000:].decode(errors="replace").splitlines()[-lines:])
