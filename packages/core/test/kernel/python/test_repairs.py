"""How a cell is read that does not parse, and which cells are not."""

import unittest

from sandbridge_kernel.run.cell import Compiler
from sandbridge_kernel.source.repairs import reading
from sandbridge_kernel.source.scan import Reading

PARSES = Compiler().parses
FENCE = "```"


class Repairs(unittest.TestCase):
    def test_a_cell_whose_meaning_is_certain_is_read_so(self):
        for code, meant, note in (
            (f"{FENCE}py\n1+2", "\n1+2", "without the fence"),
            (f"1+2\n{FENCE}", "1+2", "without the fence"),
            (f"Here's the code:\n{FENCE}python\n1+2\n{FENCE}\nIt adds.", "\n\n1+2", "the text outside of it"),
            (f"{FENCE}\ns = '''\n{FENCE}\n'''\n{FENCE}", f"\ns = '''\n{FENCE}\n'''", "without the fence"),
            ("<code>\n1+2\n</code>", "\n1+2\n", "the tag code"),
            ('<parameter name="code">\n1\n</parameter>', "\n1\n", "the tag parameter"),
            (">>>1+2", "1+2", "prompts"),
            ("# first\n>>> 1+2\n3", "\n1+2\n", "the output"),
            ("In [ ]:\nx = 1\nx", "\nx = 1\nx", "prompts"),
            ("In [*]: 1", "1", "prompts"),
            ("x = 1\n    y = 2", "x = 1\ny = 2", "indentation"),
            ("x\u00a0=\u00a01", "x = 1", "U+00A0 by a blank"),
            ("\ufeffif x:\n\u3000y\u200b", "if x:\n y", "U+FEFF by nothing, U+3000 by a blank"),
            ("x = 1\u2028y = '\u2028 = '", "x = 1\ny = '\u2028 = '", "U+2028 by a new line"),
            ("\x1b[31mx\x1b[0m = 1", "x = 1", "colours by nothing"),
            ("print(“it’s”, f‘{x}’, '“”')", "print(\"it’s\", f'{x}', '“”')", "“” by \""),
            ("print（“你好”，2 − 1 ≠ 3）", 'print("你好",2 - 1 != 3)', "（ by ("),
            ("if x &lt; 2:\n    print(&quot;&amp;lt;&quot;)", 'if x < 2:\n    print("&lt;")', "escaped for HTML"),
            ("for i in x:\\n\\tprint(i \\u003c 2, '\\u003c')", "for i in x:\n\tprint(i < 2, '\\u003c')", "twice"),
        ):
            with self.subTest(code):
                found = reading(code, PARSES)
                self.assertIsInstance(found, Reading)
                self.assertEqual(found.source, meant)
                self.assertIn(note, " ".join(found.notes))

    def test_a_cell_whose_meaning_is_not_certain_gets_one_line_that_says_what_to_write(self):
        for code, hint in (
            (f"{FENCE}python\nx = 1\n{FENCE}\n{FENCE}python\nx\n{FENCE}", "out of its fences"),
            (f"x = 1\n{FENCE}python\nx\n{FENCE}", "other text out of the cell"),
            (f"{FENCE}python 1+2 {FENCE}", "out of its fence"),
            ("a = '&lt;'\nif a &lt; 2 > 1:\n    pass", "Write <, > and &"),
            ("git status", "`!git status`"),
            ("x = 1\nexport A=1", "`!export A=1`"),
        ):
            with self.subTest(code):
                self.assertRegex(str(reading(code, PARSES)), f"^(?!Reading).*{hint}")

    def test_a_cell_that_is_nothing_of_this_is_not_read(self):
        for code in (
            "print 'x = %d' % 3",
            "for i in range(3)\n    print(i)",
            "if x: y()\n    z(",
            "x = '&lt;'\nprint(",
            "s = '''\n```python\nx = 1\n```\n'''\nprint(",
            'def f():\n    """\n    >>> f()\n    """\n    retrun 1',
            "x = 'it’s",
        ):
            with self.subTest(code):
                self.assertIsNone(reading(code, PARSES))


if __name__ == "__main__":
    unittest.main()
