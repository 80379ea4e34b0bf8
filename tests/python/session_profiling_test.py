"""What profiling_mode and profiling_options of a Session do."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import made_models


class ProfilingTest(unittest.TestCase):
    """Each in a process of its own: the runtime decides once what is profiled."""

    PROGRAM = (
        "import json, sys\n"
        "import numpy\n"
        "from aoe import Session\n"
        "keywords = json.loads(sys.argv[2])\n"
        "try:\n"
        "    with Session(sys.argv[1], **keywords) as session:\n"
        "        feed = {n: numpy.zeros(s, t) for n, (s, t) in session.inputs.items()}\n"
        "        for _ in range(3): session.run(None, feed)\n"
        "except (RuntimeError, TypeError, ValueError) as error:\n"
        "    sys.exit(f'{type(error).__name__}: {error}')\n"
    )

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="aoe_session_test_")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def run_session(self, environment=None, **keywords):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PROFILING_")}
        return subprocess.run(
            [sys.executable, "-c", self.PROGRAM, made_models.om("mlp-training"),
             json.dumps(keywords)],
            env={**clean, **(environment or {})},
            cwd=self.directory,
            capture_output=True,
            text=True,
        )  # fmt: skip

    def profiles(self, name="prof"):
        return list(pathlib.Path(self.directory, name).glob("PROF_*"))

    def table(self, profile, name):
        subprocess.run(
            [made_models.program("msprof"), "--export=on", f"--output={profile}"],
            check=True,
            capture_output=True,
        )
        (path,) = (profile / "mindstudio_profiler_output").glob(f"{name}_*.csv")
        with path.open(newline="") as file:
            return list(csv.DictReader(file))

    def test_options(self):
        for options in (
            {"output": self.directory + "/prof", "training_trace": "on"},
            json.dumps({"output": self.directory + "/prof", "training_trace": "on"}),
        ):
            shutil.rmtree(self.directory + "/prof", ignore_errors=True)
            done = self.run_session(profiling_mode=True, profiling_options=options)
            self.assertEqual(done.returncode, 0, done.stderr)
            (profile,) = self.profiles()
            self.assertEqual(len(self.table(profile, "step_trace")), 3)

    def test_training_points_are_found(self):
        options = {"output": self.directory + "/prof", "training_trace": "on"}
        self.run_session(profiling_mode=True, profiling_options=options)
        rows = self.table(self.profiles()[0], "step_trace")
        for row in rows:
            self.assertLess(float(row["FP Start(us)"]), float(row["BP End(us)"]))

    def test_bad_options_are_named(self):
        for options, named in (
            ({"output": "o", "trainig_trace": "on"}, "trainig_trace"),
            ({"output": "o", "aic_metrics": "Everything"}, "Everything"),
            ({"output": "o", "task_trace": "maybe"}, "task_trace"),
            ('{"output": "o"', "JSON"),
            ({}, "output"),
        ):
            with self.subTest(named):
                done = self.run_session(profiling_mode=True, profiling_options=options)
                self.assertEqual(done.returncode, 1)
                self.assertIn("AclError: acl.init failed with 100010", done.stderr)
                self.assertIn(named, done.stderr)
        self.assertEqual(list(pathlib.Path(self.directory).iterdir()), [])

    def test_the_script_beats_the_environment(self):
        environment = {
            "PROFILING_MODE": "true",
            "PROFILING_OPTIONS": json.dumps({"output": self.directory + "/environment"}),
        }
        self.assertEqual(self.run_session(environment).returncode, 0)
        self.assertEqual(len(self.profiles("environment")), 1)
        shutil.rmtree(self.directory + "/environment")
        done = self.run_session(
            environment,
            profiling_mode=True,
            profiling_options={"output": self.directory + "/script"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([len(self.profiles(n)) for n in ("environment", "script")], [0, 1])
        shutil.rmtree(self.directory + "/script")
        self.assertEqual(self.run_session(environment, profiling_mode=False).returncode, 0)
        self.assertEqual(self.profiles("environment"), [])

    def test_dynamic_in_the_environment_stays(self):
        done = self.run_session(
            {"PROFILING_MODE": "dynamic"},
            profiling_mode=True,
            profiling_options={"output": self.directory + "/script"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.profiles("script"), [])

    def test_the_environment_is_left_as_it_was(self):
        program = (
            "import os; from aoe import Session\n"
            "os.environ['PROFILING_OPTIONS'] = '{}'\n"
            f"options = {{'output': {self.directory!r}}}\n"
            "session = Session(profiling_mode=True, profiling_options=options)\n"
            "assert os.environ['PROFILING_OPTIONS'] == '{}'\n"
            "assert 'PROFILING_MODE' not in os.environ\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_settings_of_a_wrong_kind(self):
        for keywords, message in (
            ({"profiling_mode": "on"}, "ValueError: profiling_mode must be True, False or"),
            ({"profiling_mode": True, "profiling_options": 7}, "TypeError: profiling_options must"),
            ({"profiling_options": {}}, "ValueError: profiling_options have no effect without"),
        ):
            done = self.run_session(**keywords)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)

    def test_a_second_session_cannot_change_what_is_profiled(self):
        program = (
            "from aoe import Session\n"
            "with Session() as first:\n"
            "    try: Session(profiling_mode=True, profiling_options={'output': 'prof'})\n"
            "    except RuntimeError as error: print(error)\n"
            "Session(profiling_mode=True, profiling_options={'output': 'prof'}).close()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=self.directory, stdout=subprocess.PIPE, text=True
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn("the runtime is initialised already", done.stdout)
        self.assertEqual(len(self.profiles()), 1)


class EnableProfilingTest(unittest.TestCase):
    """SessionOptions.enable_profiling, as programs for ONNX Runtime read what it writes."""

    PROGRAM = (
        "import sys, numpy, aoe as ort\n"
        "options = ort.SessionOptions()\n"
        "options.enable_profiling = True\n"
        "options.profile_file_prefix = 'mine'\n"
        "session = ort.InferenceSession(sys.argv[1], options)\n"
        "feed = {i.name: numpy.zeros(i.shape, 'float32') for i in session.get_inputs()}\n"
        "for _ in range(3): session.run(None, feed)\n"
    )

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="aoe_session_test_")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def run_program(self, end, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PROFILING_")}
        return subprocess.run(
            [sys.executable, "-c", self.PROGRAM + end, made_models.om("mlp-training")],
            env={**clean, "TMPDIR": self.directory, **environment},
            cwd=self.directory,
            capture_output=True,
            text=True,
        )  # fmt: skip

    def files(self):
        return sorted(path.name for path in pathlib.Path(self.directory).iterdir())

    def test_runs_and_kernels(self):
        done = self.run_program(
            "start = session.get_profiling_start_time_ns()\n"
            "print(start, session.end_profiling(), repr(session.end_profiling()))\n"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        start, name, again = done.stdout.split()
        self.assertGreater(int(start), 0)
        self.assertEqual((self.files(), again), ([name], "''"))
        self.assertRegex(name, r"^mine_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.json$")
        events = json.loads(pathlib.Path(self.directory, name).read_text())
        runs = [each for each in events if each["cat"] == "Session"]
        kernels = [each for each in events if each["cat"] == "Node"]
        self.assertEqual([each["name"] for each in runs], ["model_run"] * 3)
        self.assertGreater(min(each["ts"] for each in events), 0)
        self.assertTrue(any("MatMulV2" in each["args"]["op_name"] for each in kernels))
        for kernel in kernels:
            self.assertTrue(kernel["name"].endswith("_kernel_time"))
            inside = [
                run
                for run in runs
                if run["ts"] <= kernel["ts"]
                and kernel["ts"] + kernel["dur"] <= run["ts"] + run["dur"] + 0.01
            ]
            self.assertEqual(len(inside), 1, kernel)

    def test_the_end_of_a_session_is_the_end_of_its_profile(self):
        done = self.run_program("session.close()\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.files()), 1)

    def test_something_else_collects(self):
        options = json.dumps({"output": self.directory + "/prof"})
        done = self.run_program(
            "print(repr(session.end_profiling()))\n",
            PROFILING_MODE="true",
            PROFILING_OPTIONS=options,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "''\n")
        self.assertIn("enable_profiling", done.stderr)
        self.assertEqual(self.files(), ["prof"])


if __name__ == "__main__":
    unittest.main()
