"""The line of a call that takes its time, on a terminal, and the log."""

import io
import logging
import os
import pty
import re
import unittest
from unittest import mock

from anyshape import _told

LINE = re.compile(rb"\r(anyshape\.export: [^\r\x1b]*, \d+ s)\x1b\[K\r")


def read(terminal, wanted):
    """What is written, until it holds `wanted`."""
    text = b""
    while not re.search(wanted, text):
        text += os.read(terminal, 1 << 12)
    return text


class ToldTest(unittest.TestCase):
    def setUp(self):
        shown, terminal = pty.openpty()
        self.shown = shown
        self.errors = open(terminal, "w")
        self.addCleanup(os.close, shown)
        self.addCleanup(self.errors.close)
        patched = mock.patch("sys.stderr", self.errors)
        patched.start()
        self.addCleanup(patched.stop)

    def test_the_stage_is_shown_and_taken_away(self):
        with _told.Line(after=0, every=0.01) as line:
            line.stage = "capturing \x1b[31m by torch.export"
            seen = read(self.shown, rb"capturing [^\r]*\r")
        self.assertIn(b"capturing \\x1b[31m by torch.export", LINE.findall(seen)[-1])
        self.assertTrue(read(self.shown, rb"\r\x1b\[K\Z").endswith(b"\r\x1b[K"))

    def test_short_work_shows_nothing(self):
        with _told.Line(after=600):
            pass
        os.write(self.errors.fileno(), b"end")
        self.assertEqual(read(self.shown, b"end"), b"end")

    def test_without_a_terminal(self):
        with mock.patch("sys.stderr", io.StringIO()), _told.Line(after=0, every=0.001) as line:
            self.assertIsNone(line._thread)
        with mock.patch.dict(os.environ, TERM="dumb"), _told.Line(after=0, every=0.001) as line:
            self.assertIsNone(line._thread)

    def test_one_line_for_a_call_in_a_call(self):
        with _told.line():
            outer = _told._line.get()
            with _told.line():
                _told.stage("comparing")
            self.assertEqual((outer.stage, _told._line.get()), ("comparing", outer))
        self.assertIsNone(_told._line.get())
        _told.stage("nobody looks")


class LogTest(unittest.TestCase):
    def test_words_of_others_are_lines_of_a_record(self):
        with self.assertLogs("anyshape", "INFO") as log:
            _told.heard("torch.export", "one\n\n\x1b[31mtwo\n")
            _told.heard("torch.export", "\n \n")
        self.assertEqual([record.getMessage() for record in log.records],
                         ["torch.export said:\n    one\n    \\x1b[31mtwo"])  # fmt: skip

    def test_aloud(self):
        with mock.patch("sys.stderr", io.StringIO()) as errors:
            with _told.aloud(True):
                _told.LOG.info("a word")
            with _told.aloud(False):
                _told.LOG.info("another")
        self.assertEqual(errors.getvalue(), "a word\n")
        self.assertEqual(_told.LOG.level, logging.NOTSET)


if __name__ == "__main__":
    unittest.main()
