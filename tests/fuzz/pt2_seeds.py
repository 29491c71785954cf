#!/usr/bin/env python3
"""pt2_seeds.py OUT: the small archives of tests/fixtures/pt2_reader, whole and as the JSON of their programs."""
import hashlib
import pathlib
import sys
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "pt2_reader"


def seeds():
    for path in sorted(FOLDER.glob("*.pt2")):
        yield path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if "/models/" in name:
                    yield archive.read(name)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for data in seeds():
        (out / hashlib.sha1(data).hexdigest()).write_bytes(data)


if __name__ == "__main__":
    main()
