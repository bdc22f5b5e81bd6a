"""Servers of OpenEnv, spoken to in their own way: JSON over `/ws`, strictly one answer for each request, no numbers.

Not here: programs written for OpenEnv's clients, for which there is `ludus.client.EnvClient`.
"""
