"""Exit codes are the same in base/error.h, in Python and on the page: exit_codes_test.py PROJECT_DIR."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "python" / "aoe"))
from exit_codes import ExitCode  # noqa: E402


def main():
    header = (root / "base/error.h").read_text(encoding="utf-8")
    enum = header[header.index("enum class ExitCode") : header.index("};")]
    in_header = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper(): int(code)
                 for name, code in re.findall(r"^  k(\w+) =\s*(\d+)", enum, re.M)}
    page = (root / "docs/aoe.md").read_text(encoding="utf-8")
    on_page = {int(code) for code in re.findall(r"^\| (\d+) \|", page[page.index("## Exit codes") :], re.M)}
    in_python = {each.name: each.value for each in ExitCode}
    print(in_header, sorted(on_page), in_python, sep="\n")
    return in_header != in_python or on_page != set(in_python.values())


if __name__ == "__main__":
    sys.exit(main())
