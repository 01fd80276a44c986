"""The cards of golden models are no pages of examples."""

collect_ignore = ["golden"]
