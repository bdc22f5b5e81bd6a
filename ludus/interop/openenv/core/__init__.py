"""The names that OpenEnv's first guide has under `core`: its example files run with `core.` written as this package.

They need no OpenEnv: servers and clients are Ludus's own, which speak its protocol.
"""
