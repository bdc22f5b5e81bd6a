"""What makes compiled rules exact and safe: what a rule may use, and how each is kept to the interpreter's bits.

Not here: the loop over lanes and its memory, which are in `ludus.kernels`.
"""
