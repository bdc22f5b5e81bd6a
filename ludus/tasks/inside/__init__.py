"""What runs inside sandboxes: the side of the grader, of the generator, and of a submitted program.

Not here: what starts them, which is in `ludus.tasks.grading`.
"""
