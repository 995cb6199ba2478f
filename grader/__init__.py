"""The grader: judges strangers' notebooks in a sandbox and books their marks."""
