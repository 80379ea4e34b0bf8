"""acl.prof: collecting to files. Order, codes, and what msprof finds in the files."""
import os
import subprocess
import sys

import acl
from support import AclTest, Model, exported_rows, make_om

CALLS_AND_TASKS = acl.prof.ACL_PROF_ACL_API | acl.prof.ACL_PROF_TASK_TIME


class CollectTest(AclTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.om = make_om(cls.folder)

    def setUp(self):
        super().setUp()
        self.output = os.path.join(self.folder, self.id().rsplit(".", 1)[1])

    def config(self, data_types=CALLS_AND_TASKS, devices=(0,), metrics=acl.ACL_AICORE_NONE):
        made = acl.prof.create_config(list(devices), metrics, 0, data_types)
        self.assertNotEqual(made, 0, acl.get_recent_err_msg())
        self.addCleanup(acl.prof.destroy_config, made)
        return made

    def test_a_collection_holds_what_ran_between_start_and_stop(self):
        model = Model(self, self.ok(acl.mdl.load_from_file(self.om)))
        self.ok(acl.prof.init(self.output))
        config = self.config()
        self.ok(model.run())
        self.ok(acl.prof.start(config))
        for _ in range(3):
            self.ok(model.run())
        self.ok(acl.prof.stop(config))
        self.ok(model.run())
        self.ok(acl.prof.finalize())
        calls = {row["API Name"]: int(row["Count"]) for row in exported_rows(self.output, "api_statistic")}
        self.assertEqual(calls["aclmdlExecute"], 3)
        model.destroy()

    def test_order(self):
        config = self.config()
        for call in (lambda: acl.prof.start(config), lambda: acl.prof.stop(config), acl.prof.finalize):
            self.refused(acl.ACL_ERROR_PROF_NOT_RUN, call())
        self.ok(acl.prof.init(self.output))
        self.assertNotEqual(acl.prof.init(self.output), 0)
        self.refused(acl.ACL_ERROR_PROF_NOT_RUN, acl.prof.stop(config))
        self.ok(acl.prof.start(config))
        self.refused(acl.ACL_ERROR_PROF_ALREADY_RUN, acl.prof.start(config))
        self.refused(acl.ACL_ERROR_INVALID_PROFILING_CONFIG, acl.prof.stop(self.config(acl.ACL_PROF_AICPU)))
        self.ok(acl.prof.stop(config))
        self.ok(acl.prof.finalize())
        self.refused(acl.ACL_ERROR_PROF_NOT_RUN, acl.prof.finalize())

    def test_bad_arguments(self):
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.init(""))
        self.refused(acl.ACL_ERROR_INVALID_FILE, acl.prof.init("/proc/self/x"))
        for wrong in (7, None, b"x\0y", "x\0y"):
            self.assertRaises(TypeError, acl.prof.init, wrong)
        self.ok(acl.prof.init(self.output))
        self.refused(acl.ACL_ERROR_INVALID_DEVICE, acl.prof.start(self.config(devices=[1])))
        self.refused(acl.ACL_ERROR_PROF_MODULES_UNSUPPORTED, acl.prof.start(self.config(2**63)))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.start(self.config(0)))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.start(0))
        dead = acl.prof.create_config([0], 0, 0, CALLS_AND_TASKS)
        self.ok(acl.prof.destroy_config(dead))
        for call in (acl.prof.start, acl.prof.destroy_config):
            self.refused(acl.ACL_ERROR_INVALID_PARAM, call(dead))
        self.assertEqual(acl.prof.create_config([0], 0, 4096, 1), 0)  # there are no events
        self.assertIn("aicoreEvents", acl.get_recent_err_msg())
        for devices in (0, ["0"], [-1], None):
            self.assertRaises(TypeError, acl.prof.create_config, devices, 0, 0, 1)
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.set_config(acl.ACL_PROF_STORAGE_LIMIT, "1MB"))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.set_config(2, "1"))
        self.assertRaises(TypeError, acl.prof.set_config, acl.ACL_PROF_STORAGE_LIMIT, 300)
        self.ok(acl.prof.set_config(acl.ACL_PROF_STORAGE_LIMIT, "300MB"))
        self.ok(acl.prof.finalize())

    def test_while_acl_json_collects(self):
        script = ("import acl; assert acl.init('acl.json') == 0\n"
                  "print(acl.prof.init('own'), acl.finalize())")
        with open(os.path.join(self.folder, "acl.json"), "w") as file:
            file.write('{"profiler": {"switch": "on", "output": "by_json"}}')
        done = subprocess.run([sys.executable, "-c", script], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stdout.split(), [str(acl.ACL_ERROR_PROF_ALREADY_RUN), "0"], done.stderr)


if __name__ == "__main__":
    import unittest
    unittest.main()
