"""Runs the tests of a module and prints "RESULT <outcome> <id>" for each of them.

    python3 unittest_results.py MODULE          MODULE.suite() where it has one, or all of its tests
"""

import importlib
import sys
import traceback
import unittest


class Results(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.outcomes = {}

    def add(self, test, outcome, error=None):
        # A failing clean-up comes after the test itself.
        self.outcomes[test.id()] = outcome
        if error:
            print(f"{test.id()}:", "".join(traceback.format_exception(*error)), file=sys.stderr)

    def addSuccess(self, test):
        self.add(test, "passed")

    def addFailure(self, test, error):
        self.add(test, "failed", error)

    def addError(self, test, error):
        self.add(test, "failed", error)

    def addSkip(self, test, reason):
        self.add(test, "skipped")


def main():
    module = importlib.import_module(sys.argv[1])
    suite = module.suite() if hasattr(module, "suite") else unittest.defaultTestLoader.loadTestsFromModule(module)
    results = Results()
    suite.run(results)
    for identifier, outcome in results.outcomes.items():
        print(f"RESULT {outcome} {identifier}")


if __name__ == "__main__":
    main()
