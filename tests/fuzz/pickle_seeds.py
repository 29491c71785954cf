#!/usr/bin/env python3
"""pickle_seeds.py OUT: the .pkl members of the TorchScript fixtures, as a seed corpus."""
import pathlib
import sys

import script_archives

if __name__ == "__main__":
    script_archives.write(pathlib.Path(sys.argv[1]), ".pkl")
