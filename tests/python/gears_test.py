"""Dynamic gears through acl: every gear gives what an om of that size alone gives; sizes known only after a run."""
import os

import acl
import numpy as np
from support import AclTest, Model, compile_om, run

import onnx_writer as onnx


class GearsTest(AclTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.onnx = os.path.join(cls.folder, "dynamic.onnx")
        run("make_model", "squeezenet", "--small", "--dynamic", f"--output={cls.onnx}", cwd=cls.folder)

    def compiled(self, *flags):
        return Model(self, self.ok(acl.mdl.load_from_file(compile_om(self.folder, self.onnx, *flags))))

    def alone(self, image):
        shape = ",".join(map(str, image.shape))
        model = self.compiled(f"--input_shape=input:{shape}")
        model.write(0, image)
        self.ok(model.run())
        result = model.output(0)
        model.destroy()
        return result

    def image(self, *shape):
        return np.random.default_rng(2).random(shape, np.float32)

    def gear_index(self, model):
        return self.ok(acl.mdl.get_input_index_by_name(model.desc, acl.ACL_DYNAMIC_TENSOR_NAME))

    def assert_runs_like_alone(self, model, image):
        model.write(0, image)
        self.ok(model.run())
        np.testing.assert_array_equal(model.output(0), self.alone(image))

    def test_batch(self):
        model = self.compiled("--input_shape=input:-1,3,32,32", "--dynamic_batch_size=1,4")
        self.assertEqual(acl.mdl.get_dynamic_batch(model.desc), ({"batchCount": 2, "batch": [1, 4]}, 0))
        self.assertEqual(acl.mdl.get_dynamic_hw(model.desc, -1), ({"hwCount": 0, "hw": []}, 0))
        self.assertEqual(acl.mdl.get_input_dynamic_gear_count(model.desc, -1), (0, 0))
        self.assertEqual(acl.mdl.get_input_dims(model.desc, 0)[0]["dims"], [-1, 3, 32, 32])
        index = self.gear_index(model)
        self.refused(acl.ACL_ERROR_GE_SHAPE_INVALID, model.run())  # no gear is set
        for batch in (4, 1):
            self.ok(acl.mdl.set_dynamic_batch_size(model.id, model.inputs, index, batch))
            self.assert_runs_like_alone(model, self.image(batch, 3, 32, 32))
        message = self.refused(acl.ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
                               acl.mdl.set_dynamic_batch_size(model.id, model.inputs, index, 3))
        self.assertIn("1, 4", message)
        self.refused(acl.ACL_ERROR_INVALID_PARAM,
                     acl.mdl.set_dynamic_batch_size(model.id, model.inputs, index + 1, 4))
        self.refused(acl.ACL_ERROR_MODEL_NOT_DYNAMIC,
                     acl.mdl.set_dynamic_hw_size(model.id, model.inputs, index, 32, 32))
        self.ok(acl.destroy_data_buffer(model.buffer(model.inputs, index)))
        self.refused(acl.ACL_ERROR_INVALID_PARAM,
                     acl.mdl.set_dynamic_batch_size(model.id, model.inputs, index, 4))

    def test_image_size(self):
        model = self.compiled("--input_shape=input:1,3,-1,-1", "--dynamic_image_size=32,32;48,64")
        self.assertEqual(acl.mdl.get_dynamic_hw(model.desc, -1), ({"hwCount": 2, "hw": [[32, 32], [48, 64]]}, 0))
        index = self.gear_index(model)
        self.ok(acl.mdl.set_dynamic_hw_size(model.id, model.inputs, index, 48, 64))
        self.assert_runs_like_alone(model, self.image(1, 3, 48, 64))
        self.refused(acl.ACL_ERROR_GE_SHAPE_INVALID,
                     acl.mdl.set_dynamic_hw_size(model.id, model.inputs, index, 64, 48))
        model.destroy()

    def test_any_dimensions(self):
        model = self.compiled("--input_shape=input:-1,3,-1,32", "--input_format=ND", "--dynamic_dims=1,32;2,64")
        self.assertEqual(acl.mdl.get_input_dynamic_gear_count(model.desc, -1), (2, 0))
        gears = self.ok(acl.mdl.get_input_dynamic_dims(model.desc, -1, 2))
        self.assertEqual(gears, [{"name": "", "dimCount": 4, "dims": [1, 3, 32, 32]},
                                 {"name": "", "dimCount": 4, "dims": [2, 3, 64, 32]}])
        self.assertEqual(acl.mdl.get_input_dynamic_dims(model.desc, -1, 5), (gears, 0))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.mdl.get_input_dynamic_dims(model.desc, -1, 1))
        index = self.gear_index(model)
        self.ok(acl.mdl.set_input_dynamic_dims(model.id, model.inputs, index, gears[1]))
        self.assert_runs_like_alone(model, self.image(2, 3, 64, 32))
        self.refused(acl.ACL_ERROR_GE_SHAPE_INVALID,
                     acl.mdl.set_input_dynamic_dims(model.id, model.inputs, index, {"dims": [2, 3, 32, 32]}))
        for wrong, error in (({}, KeyError), ({"dims": "2,3"}, TypeError), ({"dims": [1.5]}, TypeError),
                             ({"dims": [1], "dimCount": 2}, ValueError), ({"dims": [1] * 129}, ValueError),
                             ({"dims": [1], "dimCount": "1"}, TypeError), ([1, 2], TypeError)):
            with self.assertRaises(error, msg=wrong):
                acl.mdl.set_input_dynamic_dims(model.id, model.inputs, index, wrong)
        model.destroy()


class OpenShapeTest(AclTest):
    def test_an_output_that_only_a_run_can_size(self):
        path = os.path.join(self.folder, "nonzero.onnx")
        onnx.write(path, [onnx.node("NonZero", ["x"], ["where"], "nz")], [onnx.value("x", 2, 3)],
                   [onnx.value("where", 2, -1, element_type=onnx.INT64)])
        model = Model(self, self.ok(acl.mdl.load_from_file(compile_om(self.folder, path))))
        self.assertEqual(acl.mdl.get_output_size_by_index(model.desc, 0), 0)
        x = np.array([[0, 5, 0], [7, 0, 8]], np.float32)
        model.write(0, x)
        self.ok(model.run())
        tensor = acl.mdl.get_dataset_tensor_desc(model.outputs, 0)
        self.assertEqual(acl.get_tensor_desc_type(tensor), acl.ACL_INT64)
        shape = [acl.get_tensor_desc_dim_v2(tensor, i)[0] for i in range(acl.get_tensor_desc_num_dims(tensor))]
        np.testing.assert_array_equal(model.output(0, shape), np.array(np.nonzero(x)))
        self.ok(acl.rt.free(acl.get_data_buffer_addr(model.buffer(model.outputs, 0))))
        self.ok(acl.update_data_buffer(model.buffer(model.outputs, 0), 0, 0))
        model.destroy()


if __name__ == "__main__":
    import unittest
    unittest.main()
