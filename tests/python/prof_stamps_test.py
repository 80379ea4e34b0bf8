"""acl.prof: stamps, ranges and steps, up to the summaries that msprof makes of them."""
import os

import acl
from support import AclTest, Model, exported_rows, make_om


class StampsTest(AclTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.om = make_om(cls.folder)

    def start(self, data_types=acl.ACL_PROF_MSPROFTX | acl.ACL_PROF_TASK_TIME):
        self.output = os.path.join(self.folder, self.id().rsplit(".", 1)[1])
        self.ok(acl.prof.init(self.output))
        self.config = acl.prof.create_config([0], acl.ACL_AICORE_NONE, 0, data_types)
        self.ok(acl.prof.start(self.config))

    def stop(self):
        self.ok(acl.prof.stop(self.config))
        self.ok(acl.prof.destroy_config(self.config))
        self.ok(acl.prof.finalize())

    def stamp(self, message):
        stamp = acl.prof.create_stamp()
        self.assertNotEqual(stamp, 0, acl.get_recent_err_msg())
        self.ok(acl.prof.set_stamp_trace_message(stamp, message, len(message)))
        return stamp

    def test_every_kind_reaches_the_summary(self):
        self.start()
        stream = self.ok(acl.rt.create_stream())
        pushed, marked, ranged = self.stamp("größer"), self.stamp("marked"), self.stamp("from thread to thread")
        self.ok(acl.prof.set_category_name(7, "loading"))
        self.ok(acl.prof.set_stamp_category(marked, 7))
        self.ok(acl.prof.set_stamp_payload(marked, 4, -5))
        self.ok(acl.prof.set_stamp_tag_name(marked, "tagged", 6))
        self.ok(acl.prof.push(pushed))
        self.ok(acl.prof.mark(marked))
        self.ok(acl.prof.mark_ex("of a stream", stream))
        range_id = self.ok(acl.prof.range_start(ranged))
        codes = []
        thread, _ = acl.util.start_thread(lambda ids: codes.append(acl.prof.range_stop(ids[0])), [range_id])
        self.ok(acl.util.stop_thread(thread))
        self.ok(acl.prof.pop())
        self.assertEqual(codes, [0])
        for stamp in (pushed, marked, ranged):
            self.assertIsNone(acl.prof.destroy_stamp(stamp))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.mark(marked))
        acl.prof.destroy_stamp(marked)  # again
        self.ok(acl.rt.destroy_stream(stream))
        self.stop()
        found = {row["message"]: row for row in exported_rows(self.output, "msprof_tx")}
        self.assertEqual({message: row["event_type"] for message, row in found.items()},
                         {"größer": "push/pop", "marked": "marker", "of a stream": "marker_ex",
                          "from thread to thread": "start/end"})
        self.assertEqual(found["marked"]["category"], "loading")
        self.assertEqual(found["marked"]["payload_value"], "-5")
        self.assertLess(float(found["größer"]["Start_time(us)"]), float(found["größer"]["End_time(us)"]))

    def test_order_and_types(self):
        self.assertEqual(acl.prof.create_stamp(), 0)
        self.refused(acl.ACL_ERROR_PROF_NOT_RUN, acl.prof.mark_ex("x", 0))
        self.refused(acl.ACL_ERROR_PROF_NOT_RUN, acl.prof.pop())
        self.start(acl.ACL_PROF_TASK_TIME)
        self.assertEqual(acl.prof.create_stamp(), 0)  # not asked for
        self.stop()
        self.start()
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.pop())
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.range_stop(12345))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.mark_ex("x" * 128, 0))
        stamp = self.stamp("beginning of more")
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.set_stamp_trace_message(stamp, "", 0))
        self.ok(acl.prof.set_stamp_trace_message(stamp, "shorter than said", 4000))
        self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.set_stamp_payload(stamp, 99, 1))
        for call in (lambda: acl.prof.set_stamp_trace_message(stamp, b"bytes", 5),
                     lambda: acl.prof.set_stamp_trace_message(stamp, "x", -1),
                     lambda: acl.prof.set_stamp_payload(stamp, 4, "1"),
                     lambda: acl.prof.set_stamp_payload(stamp, 4, 2**40),
                     lambda: acl.prof.mark_ex(7, 0), lambda: acl.prof.mark("stamp")):
            self.assertRaises(TypeError, call)
        acl.prof.destroy_stamp(stamp)
        self.stop()

    def test_steps(self):
        model = Model(self, self.ok(acl.mdl.load_from_file(self.om)))
        stream = self.ok(acl.rt.create_stream())
        self.start(acl.ACL_PROF_TASK_TIME | acl.ACL_PROF_TRAINING_TRACE)
        for _ in range(2):
            step = acl.prof.create_step_info()
            self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_step_timestamp(step, acl.ACL_STEP_END, stream))
            self.ok(acl.prof.get_step_timestamp(step, acl.ACL_STEP_START, stream))
            self.ok(model.run())
            self.ok(acl.prof.get_step_timestamp(step, acl.ACL_STEP_END, stream))
            self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_step_timestamp(step, 2, stream))
            self.assertIsNone(acl.prof.destroy_step_info(step))
            self.refused(acl.ACL_ERROR_INVALID_PARAM, acl.prof.get_step_timestamp(step, 0, stream))
        self.stop()
        self.assertGreaterEqual(len(exported_rows(self.output, "step_trace")), 2)
        self.ok(acl.rt.destroy_stream(stream))
        model.destroy()


if __name__ == "__main__":
    import unittest
    unittest.main()
