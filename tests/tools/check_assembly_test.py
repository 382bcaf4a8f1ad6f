#!/usr/bin/env python3
"""tools/check-assembly must pass kernels with 16-byte accesses on both sides and fail each kind of other."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-assembly"
WIDE = ["global_load_dwordx4 v[0:3], v4, s[0:1]", "global_store_dwordx4 v4, v[0:3], s[2:3] nt"]


def kernel(name, instructions):
    """What tools/amd-assembly writes for one kernel, but for the symbols of others."""
    lines = [f"0000000000000600 g     O .rodata\t0000000000000040 .protected {name}.kd",
             f"0000000000001900 g     F .text\t0000000000000120 .protected {name}", "", f"0000000000001900 <{name}>:"]
    lines += [f"\t{instruction}{' ' * 12}// 000000001900:"
              for instruction in ["s_load_dwordx4 s[0:3], s[4:5], 0x0"] + instructions + ["s_endpgm", "s_code_end"]]
    return lines


class CheckAssembly(unittest.TestCase):
    def check(self, *files, options=()):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, lines in enumerate(files):
                paths.append(pathlib.Path(folder) / f"{number}.s")
                paths[-1].write_text("\n".join(lines) + "\n")
            result = subprocess.run([sys.executable, TOOL, *options, *paths], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout, result.stderr

    def assert_complains(self, sentence, *files):
        status, _, errors = self.check(*files)
        self.assertEqual(status, 1)
        self.assertIn(sentence, errors)

    def test_wide_kernels_pass(self):
        status, table, errors = self.check(kernel("window", WIDE) + kernel("pad", WIDE), kernel("tile", WIDE))
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("assembly of 3 kernels checked, 0 complaints", table)

    def test_the_names_of_rdna(self):
        wide = ["global_load_b128 v[0:3], v4, s[0:1]", "global_store_b128 v4, v[0:3], s[2:3]"]
        self.assertEqual(self.check(kernel("window", wide))[0], 0)

    def test_narrow_accesses(self):
        self.assert_complains("0.s: window has no global_load_dwordx4",
                              kernel("window", ["global_load_dwordx2 v[0:1], v4, s[0:1]", WIDE[1]]))
        self.assert_complains("0.s: window has no global_store_dwordx4", kernel("window", WIDE[:1]))

    def test_accesses_of_an_unknown_memory_are_not_global(self):
        self.assert_complains("window has no global_load_dwordx4",
                              kernel("window", ["flat_load_dwordx4 v[0:3], v[4:5]", WIDE[1]]))

    def test_scratch(self):
        self.assert_complains("window accesses scratch memory 1 times",
                              kernel("window", WIDE + ["scratch_store_dword off, v0, s32"]))

    def test_products_to_which_zero_is_added(self):
        for instruction in ("v_fma_mixlo_f16 v1, v1, s6, 0", "v_fma_mixhi_f16 v2, s0, v0, 0 op_sel:[0,1,0]",
                            "v_mad_mixlo_f16 v1, v1, s6, 0"):
            self.assert_complains("makes f16 of products plus zero 1 times", kernel("tile", WIDE + [instruction]))
        for instruction in ("v_fma_mixlo_f16 v1, v1, s6, v2", "v_fma_mixlo_f16 v1, v1, 0, v2 op_sel_hi:[0,1,0]",
                            "v_fma_mix_f32 v1, v1, s6, 0.5", "v_fma_mixlo_f16 v1, v1, s6, 0.5"):
            self.assertEqual(self.check(kernel("tile", WIDE + [instruction]))[0], 0)

    def test_any_width(self):
        narrow = kernel("tile", ["global_load_dword v1, v4, s[0:1]"])
        self.assertEqual(self.check(narrow, options=["--any-width"])[0], 0)
        self.assertEqual(self.check(kernel("tile", ["v_fma_mixlo_f16 v1, v1, s6, 0"]), options=["--any-width"])[0], 1)
        self.assertEqual(self.check(kernel("tile", ["scratch_store_dword off, v0, s32"]),
                                    options=["--any-width"])[0], 1)

    def test_one_kernel_does_not_hide_another(self):
        self.assert_complains("1.s: pad has no global_load_dwordx4", kernel("window", WIDE),
                              kernel("tile", WIDE) + kernel("pad", WIDE[1:]))

    def test_a_function_that_is_no_kernel_counts_for_none(self):
        helper = ["0000000000001500 <helper>:", "\t" + WIDE[0], "\t" + WIDE[1]]
        self.assert_complains("window has no global_load_dwordx4", helper + kernel("window", []))

    def test_no_kernel(self):
        self.assert_complains("there is no kernel", ["Disassembly of section .text:"])


if __name__ == "__main__":
    unittest.main()
