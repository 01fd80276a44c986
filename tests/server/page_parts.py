"""The parts of the playground's page that its tests look at most."""


def sentence(page):
    return page.locator("#sentence")


def memory(page):
    return page.locator("#memory .element")
