"""A process that saves one model over another until it is killed."""

import itertools
import warnings

import setlearn


def save_for_ever(folder, sources, ready):
    """Load the models at ``sources``, say that all is ready, and save them in turn."""
    warnings.simplefilter("ignore")
    models = [setlearn.load(source) for source in sources]
    ready.send(True)
    for model in itertools.cycle(models):
        setlearn.save(model, folder)
