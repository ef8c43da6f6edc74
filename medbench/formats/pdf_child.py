"""Run by pdf.py as a process of its own: PDF on stdin, text on stdout, limits of memory and time.

Stands alone: it runs isolated, without this package on its path.
"""

import io
import logging
import resource
import sys


def main() -> None:
    memory_mb, cpu_s, most = (int(limit) for limit in sys.argv[1:])
    memory_bytes = memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))  # should the parent be gone
    logging.disable()

    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    text = "\n".join(page.extract_text() for page in reader.pages)
    data = text.encode("utf-8", "replace").replace(b"\0", b"")
    if len(data) > most:
        sys.exit(f"More than {most} bytes of text")
    sys.stdout.buffer.write(data)


if __name__ == "__main__":
    main()
