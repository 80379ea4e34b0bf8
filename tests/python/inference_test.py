"""Loading and running an om through acl, against what aoe_run says of the same inputs."""
import os
import subprocess
import sys
import threading
import unittest

import acl
import numpy as np
from support import AclTest, Model, make_om, run


class InferenceTest(AclTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.om = make_om(cls.folder)
        cls.image = np.random.default_rng(1).random((1, 3, 32, 32), np.float32)
        np.save(os.path.join(cls.folder, "image.npy"), cls.image)
        run("aoe_run", f"--model={cls.om}", "--input=input=image.npy", "--repeat=1", "--output-dir=expected",
            cwd=cls.folder)
        expected = os.path.join(cls.folder, "expected")
        cls.expected = np.load(os.path.join(expected, os.listdir(expected)[0]))

    def assert_infers(self, model_id):
        model = Model(self, model_id)
        model.write(0, self.image)
        self.ok(model.run())
        np.testing.assert_array_equal(model.output(0), self.expected)
        model.destroy()

    def test_from_a_file(self):
        self.assert_infers(self.ok(acl.mdl.load_from_file(self.om)))

    def test_from_memory(self):
        with open(self.om, "rb") as file:
            om = file.read()
        address = acl.util.bytes_to_ptr(om)
        self.assertEqual(acl.mdl.query_size_from_mem(address, len(om)), acl.mdl.query_size(self.om))
        model_id = self.ok(acl.mdl.load_from_mem(address, len(om)))
        del om  # the runtime has copied it
        self.assert_infers(model_id)

    def test_with_memory_of_the_program(self):
        work_size, weight_size = self.ok(acl.mdl.query_size(self.om))
        work = self.ok(acl.rt.malloc(work_size, acl.ACL_MEM_MALLOC_HUGE_FIRST))
        weights = self.ok(acl.rt.malloc(weight_size, acl.ACL_MEM_MALLOC_NORMAL_ONLY))
        self.assert_infers(self.ok(
            acl.mdl.load_from_file_with_mem(self.om, work, work_size, weights, weight_size)))
        with open(self.om, "rb") as file:
            om = file.read()
        self.assert_infers(self.ok(acl.mdl.load_from_mem_with_mem(
            acl.util.bytes_to_ptr(om), len(om), work, work_size, weights, weight_size)))
        message = self.refused(acl.ACL_ERROR_INVALID_PARAM,
                               acl.mdl.load_from_file_with_mem(self.om, work, 1, weights, weight_size))
        self.assertIn("the model needs", message)
        self.ok(acl.rt.free(work))
        self.ok(acl.rt.free(weights))

    def test_with_a_config(self):
        config = acl.mdl.create_config_handle()
        self.ok(acl.mdl.set_config_opt(config, acl.ACL_MDL_LOAD_TYPE_SIZET, acl.ACL_MDL_LOAD_FROM_FILE))
        self.ok(acl.mdl.set_config_opt(config, acl.ACL_MDL_PATH_PTR, self.om))
        self.ok(acl.mdl.set_config_opt(config, acl.ACL_MDL_PRIORITY_INT32, -1))
        self.assert_infers(self.ok(acl.mdl.load_with_config(config)))
        with self.assertRaises(TypeError):
            acl.mdl.set_config_opt(config, acl.ACL_MDL_PATH_PTR, 7)
        with self.assertRaises(TypeError):
            acl.mdl.set_config_opt(config, acl.ACL_MDL_MEM_SIZET, "7")
        self.ok(acl.mdl.destroy_config_handle(config))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.mdl.load_with_config(config))

    def test_on_a_stream_between_events(self):
        stream = self.ok(acl.rt.create_stream())
        begin, end = self.ok(acl.rt.create_event()), self.ok(acl.rt.create_event())
        model = Model(self, self.ok(acl.mdl.load_from_file(self.om)))
        model.write(0, self.image)
        self.ok(acl.rt.record_event(begin, stream))
        self.ok(acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream))
        self.ok(acl.mdl.execute_v2(model.id, model.inputs, model.outputs, stream, 0))
        self.ok(acl.rt.record_event(end, stream))
        self.ok(acl.rt.synchronize_stream(stream))
        self.ok(acl.rt.synchronize_event(end))
        self.assertGreater(self.ok(acl.rt.event_elapsed_time(begin, end)), 0)
        np.testing.assert_array_equal(model.output(0), self.expected)
        model.destroy()
        self.ok(acl.rt.destroy_event(begin))
        self.ok(acl.rt.destroy_stream(stream))
        self.refused(acl.ACL_ERROR_RT_PARAM_INVALID, acl.rt.destroy_event(begin))
        self.refused(acl.ACL_ERROR_RT_STREAM_CONTEXT, acl.rt.synchronize_stream(stream))

    def test_description(self):
        desc = acl.mdl.create_desc()
        self.ok(acl.mdl.get_desc_from_file(desc, self.om))
        self.assertEqual((acl.mdl.get_num_inputs(desc), acl.mdl.get_num_outputs(desc)), (1, 1))
        self.assertEqual(acl.mdl.get_input_dims(desc, 0),
                         ({"name": "input", "dimCount": 4, "dims": [1, 3, 32, 32]}, 0))
        self.assertEqual(acl.mdl.get_input_size_by_index(desc, 0), 4 * 3 * 32 * 32)
        self.assertEqual(acl.mdl.get_input_name_by_index(desc, 0), "input")
        self.assertEqual(acl.mdl.get_input_index_by_name(desc, "input"), (0, 0))
        output = acl.mdl.get_output_name_by_index(desc, 0)
        self.assertEqual(acl.mdl.get_output_index_by_name(desc, output), (0, 0))
        self.assertEqual(acl.mdl.get_input_data_type(desc, 0), acl.ACL_FLOAT)
        self.assertEqual(acl.mdl.get_output_data_type(desc, 0), acl.ACL_FLOAT)
        self.assertEqual(acl.mdl.get_output_dims(desc, 0)[0]["dims"], list(self.expected.shape))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.mdl.get_input_dims(desc, 1))
        self.assertEqual(acl.mdl.get_input_dims(desc, 1)[0], {"name": "", "dimCount": 0, "dims": []})
        self.assertEqual(acl.mdl.get_input_size_by_index(desc, 1), 0)
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.mdl.get_input_index_by_name(desc, "inputs"))
        self.ok(acl.mdl.destroy_desc(desc))

    def test_other_threads_go_on_while_a_model_runs(self):
        model = Model(self, self.ok(acl.mdl.load_from_file(self.om)))
        started, seen, codes = threading.Event(), threading.Event(), []

        def execute():
            codes.append(acl.rt.set_device(0))
            started.set()
            while not seen.is_set() and len(codes) < 20000:
                codes.append(model.run())

        # Nobody is asked to give the interpreter up: this thread gets it only when an execution lets go of it.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        try:
            thread = threading.Thread(target=execute)
            thread.start()
            started.wait()
            runs_then = len(codes)
            seen.set()
        finally:
            sys.setswitchinterval(interval)
        thread.join()
        self.assertLess(runs_then, 20000)
        self.assertEqual(set(codes), {0})
        model.destroy()

    def test_a_missing_and_a_damaged_om(self):
        message = self.refused(acl.ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID,
                               acl.mdl.load_from_file(os.path.join(self.folder, "no.om")))
        self.assertIn("no.om", message)
        damaged = os.path.join(self.folder, "damaged.om")
        with open(self.om, "rb") as good, open(damaged, "wb") as bad:
            bad.write(good.read()[:5000])
        self.refused(acl.ACL_ERROR_PARSE_MODEL, acl.mdl.load_from_file(damaged))
        self.refused(acl.ACL_ERROR_PARSE_MODEL, acl.mdl.query_size(damaged))
        empty = os.path.join(self.folder, "empty.om")
        open(empty, "wb").close()
        self.refused(acl.ACL_ERROR_PARSE_MODEL, acl.mdl.load_from_file(empty))

    def test_what_a_program_does_not_release_does_not_disturb_its_end(self):
        script = f"""
import acl
acl.init(); acl.rt.set_device(0)
model, _ = acl.mdl.load_from_file({self.om!r})
desc = acl.mdl.create_desc(); acl.mdl.get_desc(desc, model)
dataset = acl.mdl.create_dataset()
memory, _ = acl.rt.malloc(64, 0)
acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, 64))
acl.create_tensor_desc(acl.ACL_FLOAT, [1], acl.ACL_FORMAT_ND)
acl.util.start_thread(lambda args: __import__("threading").Event().wait(), [])
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class OrderTest(unittest.TestCase):
    def test_before_and_after(self):
        self.assertEqual(acl.rt.set_device(0), acl.ACL_ERROR_UNINITIALIZE)
        self.assertEqual(acl.mdl.load_from_file("x.om"), (0, acl.ACL_ERROR_UNINITIALIZE))
        self.assertIn("aclInit was not called", acl.get_recent_err_msg())
        self.assertEqual(acl.get_recent_err_msg(), "")
        self.assertEqual(acl.init(""), 0)
        self.assertEqual(acl.init(), acl.ACL_ERROR_REPEAT_INITIALIZE)
        self.assertEqual(acl.mdl.load_from_file("x.om"), (0, acl.ACL_ERROR_RT_CONTEXT_NULL))
        self.assertEqual(acl.rt.set_device(1), acl.ACL_ERROR_RT_INVALID_DEVICEID)
        self.assertEqual(acl.rt.set_device(0), 0)
        self.assertEqual(acl.rt.get_device(), (0, 0))
        self.assertEqual(acl.rt.get_device_count(), (1, 0))
        self.assertEqual(acl.rt.get_run_mode(), (acl.ACL_DEVICE, 0))
        self.assertEqual(acl.rt.get_version()[-1], 0)
        self.assertEqual(acl.get_soc_name(), acl.rt.get_soc_name())
        self.assertEqual(acl.finalize_reference(), (1, 0))
        self.assertEqual(acl.finalize(), 0)
        self.assertEqual(acl.finalize(), acl.ACL_ERROR_REPEAT_FINALIZE)

    def test_a_configuration_that_is_not_there(self):
        self.assertEqual(acl.init("/no/such/acl.json"), acl.ACL_ERROR_INVALID_FILE)
        self.assertIn("/no/such/acl.json", acl.get_recent_err_msg())

    def test_contexts(self):
        self.assertEqual(acl.init(), 0)
        context, ret = acl.rt.create_context(0)
        self.assertEqual(ret, 0)
        self.assertEqual(acl.rt.get_context(), (context, 0))
        seen = []

        def in_a_thread(args_list):
            seen.append(acl.rt.get_context()[1])
            seen.append(acl.rt.set_context(args_list[0]))
            seen.append(acl.rt.get_context())

        thread, ret = acl.util.start_thread(in_a_thread, [context])
        self.assertEqual((ret, acl.util.stop_thread(thread)), (0, 0))
        self.assertEqual(seen, [acl.ACL_ERROR_RT_CONTEXT_NULL, 0, (context, 0)])
        self.assertEqual(acl.rt.destroy_context(context), 0)
        self.assertEqual(acl.rt.set_context(context), acl.ACL_ERROR_RT_PARAM_INVALID)
        self.assertEqual(acl.finalize(), 0)


if __name__ == "__main__":
    unittest.main()
