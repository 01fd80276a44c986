"""The estimators: scikit-learn on the outside, scorers and rules on the inside."""
