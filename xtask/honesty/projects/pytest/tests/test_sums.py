import subprocess


def add(left, right):
    return subprocess.run(["sh", "src/add.sh", left, right], capture_output=True, text=True).stdout.strip()


def test_add():
    assert add("2", "3") == "5"


def test_below_zero():
    assert add("-2", "3") == "1"
