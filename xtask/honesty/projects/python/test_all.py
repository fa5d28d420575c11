import subprocess
import unittest


class Sums(unittest.TestCase):
    def test_add(self):
        done = subprocess.run(["sh", "src/add.sh", "2", "3"], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "5")
