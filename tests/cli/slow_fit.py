"""Runs the command line with a fit that stops in the middle, and waits for a signal.

``python -m tests.cli.slow_fit 7 2 fit ...`` waits in the seventh fit of a logistic regression, of
which there is one per label, and in the second fit of the rule.
"""

import sys
import time

from sklearn.linear_model import LogisticRegression

from setlearn.rules import Margin


def wait_in_fits(of_learner=0, of_rule=0):
    """Let one fit of the learner and one of the rule wait; 0 for none."""
    LogisticRegression.fit = waiting(LogisticRegression.fit, of_learner)
    Margin.fit = waiting(Margin.fit, of_rule)


def waiting(fit, number):
    """The same method, which waits in one of its calls, and says so."""
    calls = iter(range(1, sys.maxsize))

    def fit_or_wait(*args, **kwargs):
        if next(calls) == number:
            sys.stderr.write("waiting\n")
            sys.stderr.flush()
            time.sleep(600)
        return fit(*args, **kwargs)

    return fit_or_wait


if __name__ == "__main__":
    from setlearn.cli import main

    of_learner, of_rule, *arguments = sys.argv[1:]
    wait_in_fits(int(of_learner), int(of_rule))
    sys.argv = ["setlearn", *arguments]
    main()
