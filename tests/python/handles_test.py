"""Wrong types, dead handles, many threads: errors, never a crash."""
import inspect
import os
import random
import re
import threading

import acl
import numpy as np
from support import AclTest, Model, make_om

MODULES = [acl, acl.rt, acl.mdl, acl.util] + ([acl.prof] if hasattr(acl, "prof") else [])
# These follow what is given as an address, as in C.
FOLLOW_ADDRESSES = {"memcpy", "memcpy_async", "memset", "ptr_to_bytes", "ptr_to_numpy", "load_from_mem",
                    "load_from_mem_with_mem", "load_from_file_with_mem", "query_size_from_mem",
                    "create_data_buffer", "update_data_buffer"}
# These change what the other calls of the test rely on.
END_THINGS = {"init", "finalize", "finalize_reference", "reset_device"}


def bound_functions():
    """(name, function, type of each parameter) of everything the extension binds."""
    for module in MODULES:
        for name, function in vars(module).items():
            if inspect.isbuiltin(function):
                signature = re.match(rf"{name}\((.*)\) ->", function.__doc__).group(1)
                types = re.findall(r"\w+: ([\w.\[\]:]+)", signature)
                yield f"{module.__name__}.{name}", function, types


class HandlesTest(AclTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.om = make_om(cls.folder)

    def test_every_function_refuses_wrong_types(self):
        tried = 0
        for name, function, types in bound_functions():
            wrong = [object()] * len(types)
            if types:
                with self.assertRaises(TypeError, msg=name):
                    function(*wrong)
                tried += 1
            with self.assertRaises(TypeError, msg=name):
                function(*wrong, 1, 1)  # too many
            for place, kind in enumerate(types):
                if kind != "int":
                    continue
                for value in (1.5, "1", None, 2**200, [1], b"1"):
                    if types != ["int"] * len(types):
                        break
                    arguments = [0] * len(types)
                    arguments[place] = value
                    with self.assertRaises(TypeError, msg=f"{name} {arguments}"):
                        function(*arguments)
        self.assertGreater(tried, 70)

    def test_no_function_follows_what_is_no_handle(self):
        noise = random.Random(3)
        for name, function, types in bound_functions():
            short = name.rsplit(".", 1)[1]
            if short in END_THINGS or short in FOLLOW_ADDRESSES or set(types) != {"int"}:
                continue
            if re.match("get_op_|get_model_id", short):  # of records, which are an address
                continue
            for _ in range(20):
                arguments = [noise.choice([0, 1, 2, 8, 4096, 2**31 - 1]) for _ in types]
                with self.subTest(name=name, arguments=arguments):
                    try:
                        function(*arguments)
                    except TypeError:  # too large for a parameter
                        pass

    def test_null_addresses_are_refused(self):
        for result in (acl.rt.memcpy(0, 4, 0, 4, 0), acl.rt.memset(0, 4, 0, 4), acl.rt.free(0),
                       acl.rt.free_host(0), acl.mdl.load_from_mem(0, 4), acl.mdl.query_size_from_mem(0, 4)):
            self.refused(acl.ACL_ERROR_INVALID_PARAM, result)
        self.assertEqual(acl.create_data_buffer(0, 4), 0)
        for call in (lambda: acl.util.ptr_to_bytes(0, 4), lambda: acl.util.ptr_to_numpy(0, (4,), 11)):
            self.assertRaises(ValueError, call)

    def test_dead_objects(self):
        desc, dataset = acl.mdl.create_desc(), acl.mdl.create_dataset()
        buffer, tensor = acl.create_data_buffer(0, 0), acl.create_tensor_desc(acl.ACL_FLOAT, [2, 3], acl.ACL_FORMAT_ND)
        self.assertEqual(acl.get_tensor_desc_size(tensor), 24)
        self.ok(acl.mdl.add_dataset_buffer(dataset, buffer))
        self.ok(acl.mdl.set_dataset_tensor_desc(dataset, tensor, 0))
        kept = acl.mdl.get_dataset_tensor_desc(dataset, 0)
        acl.destroy_tensor_desc(tensor)
        self.assertEqual(acl.get_tensor_desc_num_dims(tensor), 0)
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.mdl.set_dataset_tensor_desc(dataset, tensor, 0))
        self.assertEqual(acl.get_tensor_desc_dim_v2(kept, 1), (3, 0))
        acl.destroy_tensor_desc(kept)  # the data set's: stays
        self.assertEqual(acl.get_tensor_desc_size(kept), 24)
        self.ok(acl.mdl.destroy_dataset(dataset))
        self.assertEqual(acl.get_tensor_desc_size(kept), 0)
        self.ok(acl.mdl.destroy_desc(desc))
        self.ok(acl.destroy_data_buffer(buffer))
        for result in (acl.mdl.destroy_dataset(dataset), acl.mdl.destroy_desc(desc), acl.destroy_data_buffer(buffer),
                       acl.mdl.add_dataset_buffer(dataset, buffer), acl.mdl.get_desc(desc, 1),
                       acl.update_data_buffer(buffer, 0, 0), acl.mdl.get_input_dims(desc, 0)):
            self.refused(acl.ACL_ERROR_INVALID_PARAM, result)
        self.assertEqual(acl.mdl.get_num_inputs(desc), 0)
        self.assertEqual(acl.mdl.get_dataset_num_buffers(dataset), 0)
        self.assertEqual(acl.get_data_buffer_addr(buffer), 0)
        # The kinds of handles are apart.
        desc = acl.mdl.create_desc()
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.mdl.destroy_dataset(desc))
        self.ok(acl.mdl.destroy_desc(desc))

    def test_memory_is_freed_once(self):
        memory = self.ok(acl.rt.malloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.rt.free(memory + 8))
        self.ok(acl.rt.free(memory))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.rt.free(memory))
        array = np.zeros(16)
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.rt.free(acl.util.numpy_to_ptr(array)))
        self.assertEqual(acl.rt.malloc(0, 0), (0, acl.ACL_ERROR_INVALID_PARAM))
        self.assertEqual(acl.rt.malloc(2**62, 0), (0, acl.ACL_ERROR_RT_MEMORY_ALLOCATION))
        self.assertEqual(acl.rt.malloc(64, 99), (0, acl.ACL_ERROR_INVALID_PARAM))

    def test_a_buffer_destroyed_in_its_dataset(self):
        model = Model(self, self.ok(acl.mdl.load_from_file(self.om)))
        buffer = model.buffer(model.inputs, 0)
        memory, size = acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)
        self.ok(acl.destroy_data_buffer(buffer))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, model.run())
        self.ok(acl.mdl.destroy_dataset(model.inputs))
        model.inputs = acl.mdl.create_dataset()
        self.refused(acl.ACL_ERROR_MODEL_INPUT_NOT_MATCH, model.run())
        self.ok(acl.mdl.add_dataset_buffer(model.inputs, acl.create_data_buffer(memory, size)))
        self.ok(model.run())
        model.destroy()
        self.refused(acl.ACL_ERROR_INVALID_MODEL_ID, acl.mdl.unload(model.id))
        self.refused(acl.ACL_ERROR_INVALID_MODEL_ID, model.run())

    def test_destroying_while_a_model_runs(self):
        model_id = self.ok(acl.mdl.load_from_file(self.om))
        for _ in range(20):
            model = Model(self, model_id)
            codes = []

            def execute():
                acl.rt.set_device(0)
                while len(codes) < 100000 and (not codes or codes[-1] == 0):
                    codes.append(model.run())

            thread = threading.Thread(target=execute)
            thread.start()
            while not codes:
                pass
            for dataset in (model.inputs, model.outputs):
                buffer = acl.mdl.get_dataset_buffer(dataset, 0)
                self.ok(acl.destroy_data_buffer(buffer))  # its memory stays until the thread has ended
                self.ok(acl.mdl.destroy_dataset(dataset))
            thread.join()
            self.assertEqual(codes[-1], acl.ACL_ERROR_INVALID_PARAM)
        self.ok(acl.mdl.unload(model_id))

    def test_threads_in_random_order(self):
        seed = random.randrange(10**6)
        print(f"seed {seed}")
        model_id = self.ok(acl.mdl.load_from_file(self.om))
        shared, failures = [], []

        def work(thread):
            noise = random.Random(seed + thread)
            self.ok(acl.rt.set_device(0))
            made = {"dataset": [], "buffer": [], "memory": []}
            for _ in range(400):
                action = noise.randrange(8)
                if action == 0:
                    made["dataset"].append(acl.mdl.create_dataset())
                    shared.append(made["dataset"][-1])
                elif action == 1:
                    memory, _ = acl.rt.malloc(noise.randrange(1, 9999), 0)
                    made["memory"].append(memory)
                    made["buffer"].append(acl.create_data_buffer(memory, 1))
                elif action == 2 and made["dataset"] and made["buffer"]:
                    acl.mdl.add_dataset_buffer(noise.choice(made["dataset"]), noise.choice(made["buffer"]))
                elif action == 3 and made["buffer"]:
                    acl.destroy_data_buffer(noise.choice(made["buffer"]))
                elif action == 4 and shared:
                    acl.mdl.destroy_dataset(noise.choice(shared))
                elif action == 5 and shared:
                    ret = acl.mdl.execute(model_id, noise.choice(shared), noise.choice(shared))
                    if ret == 0:
                        failures.append("executed on nothing")
                elif action == 6:
                    desc = acl.mdl.create_desc()
                    if acl.mdl.get_desc(desc, model_id) != 0 or acl.mdl.get_num_inputs(desc) != 1:
                        failures.append("no description")
                    acl.mdl.destroy_desc(desc)
                else:
                    acl.get_recent_err_msg()
            for memory in made["memory"]:
                if acl.rt.free(memory) != 0:
                    failures.append("memory is not ours")

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.ok(acl.mdl.unload(model_id))


if __name__ == "__main__":
    import unittest
    unittest.main()
