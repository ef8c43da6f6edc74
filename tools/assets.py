"""Fill static/vendor/ with the browser libraries named in package-lock.json.

htmx is not among them: the templates use the one inside django-htmx, "django_htmx/htmx-2.min.js".
"""

import shutil
import subprocess
import sys

from node import ROOT, npm

SOURCE, VENDOR = ROOT / "node_modules", ROOT / "static/vendor"
FILES = {
    "echarts": ("echarts/LICENSE", "echarts/dist/echarts.min.js"),
    "openseadragon": (
        "openseadragon/LICENSE.txt",
        "openseadragon/build/openseadragon/openseadragon.min.js",
        "openseadragon/build/openseadragon/openseadragon.min.js.map",
    ),
    "inter": (
        "@fontsource-variable/inter/LICENSE",
        "@fontsource-variable/inter/files/inter-greek-wght-normal.woff2",
        "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2",
        "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
    ),
}


def main() -> None:
    subprocess.run([*npm(), "ci", "--ignore-scripts"], cwd=ROOT, check=True)
    missing = [file for files in FILES.values() for file in files if not (SOURCE / file).is_file()]
    if missing:
        sys.exit(f"npm did not bring {', '.join(missing)}: has a library changed its layout?")
    shutil.rmtree(VENDOR, ignore_errors=True)
    for name, files in FILES.items():
        (VENDOR / name).mkdir(parents=True)
        for file in files:
            shutil.copy(SOURCE / file, VENDOR / name)


if __name__ == "__main__":
    main()
