"""How an answer is asked for: methods, stopping rules, the clock, results."""
