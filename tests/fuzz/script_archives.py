"""write(OUT, SUFFIX): the members with that ending of the archives in tests/fixtures/script*, as a seed corpus."""
import hashlib
import pathlib
import zipfile

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"


def write(out, suffix):
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(FIXTURES.glob("script*/*.pt")):
        if not zipfile.is_zipfile(path):
            continue
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(suffix):
                    data = archive.read(name)
                    (out / hashlib.sha1(data).hexdigest()).write_bytes(data)
