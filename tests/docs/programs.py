"""The programs of the project as a page speaks of them: their flags, as --help tells."""
import functools
import pathlib
import re
import subprocess

# Program -> the page that lists its flags; of pages with several programs each has a section of its name.
PAGES = {
    "aoe": "aoe.md",
    "atc": "atc.md",
    "aoe_run": "aoe_run.md",
    "aoe_bank": "aoe_bank.md",
    "make_model": "make_model.md",
    "msprof": "msprof.md",
    "aoe_compare": "aoe_compare.md",
    "aoe_quantize": "aoe_quantize.md",
    "aoe_sign": "aoe_sign.md",
    "aoe_report": "aoe_report.md",
    "compare_onnxruntime": "compare_onnxruntime.md",
    "kernel_bench": "benchmarks.md",
    "load_bench": "benchmarks.md",
    "roofline_bench": "benchmarks.md",
    "sgemm_bench": "benchmarks.md",
    "search_bench": "benchmarks.md",
    "transfer_bench": "benchmarks.md",
    "profiler_overhead": "benchmarks.md",
    "profiler_import": "benchmarks.md",
    "graph_scaling": "benchmarks.md",
    "operator_sweep": "benchmarks.md",
    "claims_bench": "benchmarks.md",
    "bank_bench": "benchmarks.md",
    "fleet_bench": "benchmarks.md",
}
# Programs with several forms, each of which has flags of its own.
FORMS = {
    "aoe": [[], ["serve_tasks"]],
    "msprof": [[], ["collect"], ["import"], ["export"], ["query"], ["show"], ["advise"],
               ["--parse=on"], ["--query=on"], ["--analyze=on"], ["--export=on"]],
}


class Programs:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    @functools.lru_cache(maxsize=None)
    def help(self, program):
        """Of all its forms."""
        texts = []
        for form in FORMS.get(program, [[]]):
            done = subprocess.run([self.directory / program, *form, "--help"], capture_output=True,
                                  text=True, timeout=60)
            if done.returncode != 0:
                raise SystemExit(f"{program} {' '.join(form)} --help: {done.stderr}")
            texts.append(done.stdout)
        return "\n".join(texts)

    def flags(self, program):
        """Names without dashes, long and short."""
        found = re.findall(r"^\s+(?:-(\w) \[ )?--([\w-]+)", self.help(program), re.M)
        return frozenset(name for names in found for name in names if name)

    def values(self, program):
        """{name: {"on", "off"}} of flags that take one of several words, in whichever form."""
        known = {}
        for name, words in re.findall(r"^\s+(?:-\w \[ )?--([\w-]+)(?: \])? ([\w.-]+(?:\|[\w.-]+)+)",
                                      self.help(program), re.M):
            known.setdefault(name, set()).update(words.split("|"))
        return known

    def all_flags(self):
        return frozenset().union(*(self.flags(program) for program in PAGES))
