"""The paper's algorithms to the letter, as oracles for the fast code."""
