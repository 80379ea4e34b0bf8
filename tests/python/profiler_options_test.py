"""The arguments of Profiler: defaults, types, what fits together, what does nothing."""

import unittest

from profiler_fakes import ProfilerTest

from aoe.profiler import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    schedule,
)
from aoe.profiler.collector import data_types
from aoe.profiler.options import ProfilerOptions, from_dict

CPU, NPU, GPU = ProfilerActivity

DEFAULTS = {
    "start_profile": True,
    "output_path": "./data",
    "profiler_level": "Level0",
    "activities": ["CPU", "NPU"],
    "schedule": None,
    "on_trace_ready": None,
    "profile_memory": False,
    "aicore_metrics": "AiCoreNone",
    "with_stack": False,
    "record_shapes": False,
    "data_simplification": True,
    "l2_cache": False,
    "hbm_ddr": False,
    "pcie": False,
    "data_process": False,
    "parallel_strategy": False,
    "sync_enable": True,
    "mstx": False,
    "mstx_domain_include": [],
    "mstx_domain_exclude": [],
    "export_type": ["Text"],
    "sys_io": False,
    "sys_interconnection": False,
    "host_sys": [],
}

# What is no value of each argument.
WRONG = {
    "start_profile": 1,
    "output_path": 7,
    "profiler_level": 1,
    "activities": CPU,
    "schedule": 3,
    "on_trace_ready": "handler",
    "profile_memory": "yes",
    "aicore_metrics": "Memory",
    "with_stack": None,
    "record_shapes": 0,
    "data_simplification": "off",
    "l2_cache": 1,
    "hbm_ddr": "on",
    "pcie": 1.0,
    "data_process": 1,
    "parallel_strategy": [],
    "sync_enable": "x",
    "mstx": 1,
    "mstx_domain_include": "all",
    "mstx_domain_exclude": [1],
    "export_type": "text",
    "sys_io": 1,
    "sys_interconnection": 1,
    "host_sys": "cpu",
}


class OptionsTest(ProfilerTest):
    def options(self, **arguments):
        return ProfilerOptions(arguments)

    def test_defaults(self):
        self.assertEqual(self.options().to_dict(), DEFAULTS)
        self.assert_silent()

    def test_a_wrong_type_is_replaced_with_a_warning(self):
        self.assertEqual(set(WRONG), set(DEFAULTS))
        for name, value in WRONG.items():
            with self.subTest(name=name):
                self.said.clear()
                self.assertEqual(self.options(**{name: value}).to_dict(), DEFAULTS)
                self.assert_said(f"{name} must be ")

    def test_lists_of_a_wrong_type(self):
        for value in ([], [CPU, "NPU"], None):
            self.said.clear()
            self.assertEqual(self.options(activities=value).activities, (CPU, NPU))
            self.assert_said("activities must be a list of ProfilerActivity")

    def test_an_unknown_argument_is_named_with_its_neighbour(self):
        self.options(profile_level=ProfilerLevel.Level1)
        self.assert_said("no argument profile_level")
        self.assert_said("did you mean profiler_level?")

    def test_the_newer_name_of_metrics(self):
        options = self.options(
            profiler_level=ProfilerLevel.Level1, aic_metrics=AicoreMetrics.Memory
        )
        self.assertIs(options.aicore_metrics, AicoreMetrics.Memory)
        self.assert_silent()

    def test_deprecated_arguments(self):
        for name in (
            "profile_communication",
            "op_time",
            "profile_framework",
            "host_stack",
            "timeline_limit",
        ):
            self.said.clear()
            self.assertEqual(self.options(**{name: True}).to_dict(), DEFAULTS)
            self.assert_said(f"{name} is deprecated")

    def test_metrics_follow_the_level(self):
        none, pipes = AicoreMetrics.AiCoreNone, AicoreMetrics.PipeUtilization
        for level in (ProfilerLevel.Level1, ProfilerLevel.Level2):
            self.assertIs(self.options(profiler_level=level).aicore_metrics, pipes)
        self.assert_silent()
        options = self.options(aicore_metrics=AicoreMetrics.Memory)
        self.assertIs(options.aicore_metrics, none)
        self.assert_said("aicore_metrics=Memory needs profiler_level Level1 or Level2")
        options = self.options(
            profiler_level=ProfilerLevel.LevelNone, mstx=True, aicore_metrics=AicoreMetrics.L2Cache
        )
        self.assertIs(options.aicore_metrics, none)

    def test_metrics_need_the_npu(self):
        options = self.options(
            activities=[CPU],
            profiler_level=ProfilerLevel.Level1,
            aicore_metrics=AicoreMetrics.Memory,
        )
        self.assertIs(options.aicore_metrics, AicoreMetrics.AiCoreNone)
        self.assert_said("need ProfilerActivity.NPU")

    def test_level_none_needs_mstx(self):
        options = self.options(profiler_level=ProfilerLevel.LevelNone)
        self.assertIs(options.profiler_level, ProfilerLevel.Level0)
        self.assert_said("LevelNone needs mstx=True")
        options = self.options(profiler_level=ProfilerLevel.LevelNone, mstx=True)
        self.assertIs(options.profiler_level, ProfilerLevel.LevelNone)

    def test_memory_and_shapes_need_both_activities(self):
        for activities in ([CPU], [NPU]):
            options = self.options(activities=activities, profile_memory=True, record_shapes=True)
            self.assertFalse(options.profile_memory)
            self.assertFalse(options.record_shapes)
        self.assert_said("profile_memory is switched off")
        self.assert_said("record_shapes is switched off")

    def test_stacks_need_the_cpu(self):
        self.assertFalse(self.options(activities=[NPU], with_stack=True).with_stack)
        self.assert_said("with_stack is switched off")

    def test_a_schedule_switches_data_process_off(self):
        plan = schedule(wait=0, active=1, warmup=1)
        self.assertFalse(self.options(schedule=plan, data_process=True).data_process)
        self.assert_said("data_process is switched off: a schedule is set")

    def test_what_only_other_hardware_has_is_said_once(self):
        names = ("l2_cache", "hbm_ddr", "pcie", "data_process", "parallel_strategy", "sys_io",
                 "sys_interconnection")  # fmt: skip
        for _ in range(2):
            self.options(**{name: True for name in names})
        for name in names:
            self.assertEqual(sum(each.startswith(f"{name} does nothing") for each in self.said), 1)
        self.options(sync_enable=True, activities=[CPU, NPU, GPU], host_sys=[HostSystem.DISK])
        self.assert_said("sync_enable does nothing here")
        self.assert_said("ProfilerActivity.GPU does nothing here")
        self.assert_said("HostSystem.DISK does nothing here")

    def test_they_survive_being_written(self):
        options = self.options(
            profiler_level=ProfilerLevel.Level2,
            activities=[NPU],
            export_type=[ExportType.Db, ExportType.Text],
            host_sys=[HostSystem.CPU],
            schedule=schedule(wait=1, active=2, warmup=3),
        )
        self.assertEqual(from_dict(options.to_dict()).to_dict(), options.to_dict())


class DataTypeTest(ProfilerTest):
    """The bits of dataTypeConfig."""

    def bits(self, **arguments):
        return data_types(ProfilerOptions(arguments))

    def test_levels(self):
        level = ProfilerLevel
        self.assertEqual(self.bits(profiler_level=level.LevelNone, mstx=True), 0x80)
        self.assertEqual(self.bits(), 0x800)
        self.assertEqual(self.bits(profiler_level=level.Level1), 0x1 | 0x2 | 0x4)
        self.assertEqual(self.bits(profiler_level=level.Level2), 0x1 | 0x2 | 0x4 | 0x8 | 0x100)

    def test_activities_and_switches(self):
        self.assertEqual(self.bits(activities=[CPU]), 0)
        self.assertEqual(self.bits(activities=[CPU], profiler_level=ProfilerLevel.Level1), 0x1)
        self.assertEqual(self.bits(profile_memory=True, mstx=True), 0x800 | 0x80 | 0x1000)


class ExperimentalConfigTest(ProfilerTest):
    def test_all_its_arguments_are_known(self):
        options = ProfilerOptions(
            _ExperimentalConfig(
                profiler_level=ProfilerLevel.Level1, aic_metrics=AicoreMetrics.Memory, mstx=True
            ).arguments
        )
        self.assertIs(options.aicore_metrics, AicoreMetrics.Memory)
        self.assertTrue(options.mstx)
        self.assert_silent()


if __name__ == "__main__":
    unittest.main()
