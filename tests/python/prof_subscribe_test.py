"""acl.prof: subscribing to the ops of a model through a pipe."""
import collections
import os
import subprocess
import sys

import acl
import numpy as np
from support import AclTest, Model, make_om


class SubscribeTest(AclTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.om = make_om(cls.folder)

    def setUp(self):
        super().setUp()
        self.model = Model(self, self.ok(acl.mdl.load_from_file(self.om)))
        self.size = self.ok(acl.prof.get_op_desc_size())

    def config(self, descriptor, times=1):
        made = acl.prof.create_subscribe_config(times, acl.ACL_AICORE_NONE, descriptor)
        self.assertNotEqual(made, 0, acl.get_recent_err_msg())
        self.addCleanup(acl.prof.destroy_subscribe_config, made)
        return made

    def pipe(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        return read_end, write_end

    def records_of(self, runs, times=1):
        """All that came through the pipe, which the runtime closes at the end."""
        read_end, write_end = self.pipe()
        chunks = []

        def read(args_list):
            while chunk := os.read(args_list[0], args_list[1]):
                chunks.append(chunk)

        thread = self.ok(acl.util.start_thread(read, [read_end, self.size * 10]))
        self.ok(acl.prof.model_subscribe(self.model.id, self.config(write_end, times)))
        for _ in range(runs):
            self.ok(self.model.run())
        self.ok(acl.prof.model_un_subscribe(self.model.id))
        self.ok(acl.util.stop_thread(thread))
        self.assertRaises(OSError, os.close, write_end)
        return b"".join(chunks)

    def test_a_record_for_each_op_of_each_run(self):
        data = self.records_of(3)
        array = np.array(data)  # as pyACL's documents have it
        ptr, size = acl.util.numpy_to_ptr(array), array.itemsize * array.size
        count = self.ok(acl.prof.get_op_num(ptr, size))
        self.assertEqual(count * self.size, len(data))
        names, types, last_end = collections.Counter(), set(), 0
        for i in range(count):
            self.assertEqual(acl.prof.get_model_id(ptr, size, i), self.model.id)
            length = self.ok(acl.prof.get_op_name_len(ptr, size, i))
            name = self.ok(acl.prof.get_op_name_v2(ptr, size, i))
            self.assertEqual(len(name.encode()) + 1, length)
            names[name] += 1
            length = self.ok(acl.prof.get_op_type_len(ptr, size, i))
            self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_op_type(ptr, size, i, length - 1))
            types.add(self.ok(acl.prof.get_op_type(ptr, size, i, 2**40)))  # room is no matter
            self.assertEqual(acl.prof.get_op_type(ptr, size, i, 65)[0], "")  # was read
            begin, end = acl.prof.get_op_start(ptr, size, i), acl.prof.get_op_end(ptr, size, i)
            self.assertLess(0, begin)
            self.assertLessEqual(begin, end)
            self.assertAlmostEqual(acl.prof.get_op_duration(ptr, size, i), end - begin, delta=1)
            self.assertLessEqual(last_end, end)
            last_end = end
            self.assertEqual(acl.prof.get_op_flag(ptr, size, i), acl.prof.ACL_SUBSCRIBE_OP)
        self.assertEqual(set(names.values()), {3})
        self.assertTrue(any(kind.startswith("Conv2D") for kind in types), types)
        self.assertTrue(any(acl.prof.get_op_cube_fops(ptr, size, i) > 0 for i in range(count)))

    def test_without_times(self):
        data = self.records_of(1, times=0)
        ptr = acl.util.bytes_to_ptr(data)
        self.assertEqual(acl.prof.get_op_start(ptr, len(data), 0), 0)
        self.assertNotEqual(self.ok(acl.prof.get_op_name_v2(ptr, len(data), 0)), "")

    def test_bytes_that_are_no_records(self):
        data = self.records_of(1)
        ptr = acl.util.bytes_to_ptr(data)
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_op_num(ptr, len(data) - 1))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_op_num(0, self.size))
        count = len(data) // self.size
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_op_name_v2(ptr, len(data), count))
        self.assertEqual(acl.prof.get_op_end(ptr, len(data), count), 0)
        zeros = bytes(len(data))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_op_num(acl.util.bytes_to_ptr(zeros), len(zeros)))

    def test_codes(self):
        self.refused(acl.ACL_ERROR_INVALID_MODEL_ID, acl.prof.model_unsubscribe(self.model.id))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.model_subscribe(self.model.id, 0))
        self.assertEqual(acl.prof.create_subscribe_config(2, acl.ACL_AICORE_NONE, 1), 0)
        for wrong in ((1, 255, None), (1, 255, "1"), (None, 255, 1), (300, 255, 1)):
            self.assertRaises(TypeError, acl.prof.create_subscribe_config, *wrong)
        _, write_end = self.pipe()
        config = self.config(write_end)
        self.ok(acl.prof.model_subscribe(self.model.id, config))
        self.refused(acl.ACL_ERROR_PROF_REPEAT_SUBSCRIBE, acl.prof.model_subscribe(self.model.id, config))
        self.refused(acl.ACL_ERROR_PROF_API_CONFLICT, acl.prof.init(self.folder))
        self.ok(acl.prof.model_unsubscribe(self.model.id))
        self.ok(acl.prof.init(self.folder))
        self.refused(acl.ACL_ERROR_PROF_API_CONFLICT, acl.prof.model_subscribe(self.model.id, config))
        self.ok(acl.prof.finalize())

    def test_each_front_in_turn_in_one_process(self):
        for _ in range(3):
            self.assertGreater(len(self.records_of(1)), 0)
            self.ok(acl.prof.init(os.path.join(self.folder, "turns")))
            config = acl.prof.create_config([0], acl.ACL_AICORE_NONE, 0, acl.ACL_PROF_TASK_TIME)
            self.ok(acl.prof.start(config))
            self.ok(self.model.run())
            self.ok(acl.prof.stop(config))
            self.ok(acl.prof.finalize())
            self.ok(acl.prof.destroy_config(config))

    def test_a_program_that_ends_subscribed(self):
        script = f"""
import acl, os
acl.init(); acl.rt.set_device(0)
model, _ = acl.mdl.load_from_file({self.om!r})
acl.prof.model_subscribe(model, acl.prof.create_subscribe_config(1, 255, os.pipe()[1]))
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    import unittest
    unittest.main()
