"""Edits the plan of the project: plan.py STATEMENTS. `d` is the document, `S` its stories by id, `L` their list, `s` the
story of the iteration. PLAN_INDENT, PLAN_END and PLAN_LINES say how it is written."""

import json
import os
import sys

path = os.environ.get("PLAN_FILE", "ralph/tasks.json")
with open(path, encoding="utf-8-sig") as file:
    d = json.load(file)
L = d["userStories"]
S = {story["id"]: story for story in L}
try:
    with open(".ralph-active") as file:
        s = S.get(json.load(file)["story"])
except OSError:
    s = None
exec(sys.argv[1])
indent = int(os.environ.get("PLAN_INDENT", "2")) or None
text = json.dumps(d, indent=indent, ensure_ascii=False) + os.environ.get("PLAN_END", "\n")
with open(path, "w", encoding="utf-8", newline="") as file:
    file.write(text.replace("\n", os.environ.get("PLAN_LINES", "\n")))
