#!/bin/sh
# The interpreter that .venv is made of: python3; or the system's own, where python3 is another that was built without
# optimisation, as tools that compile interpreters from source do by default. Compiling rules then takes about two thirds
# of the time and importing NumPy four fifths, and it is the one that most users of the system have.
optimised='import sys, sysconfig
sys.exit("--enable-optimizations" not in (sysconfig.get_config_var("CONFIG_ARGS") or ""))'
supported='import sys; sys.exit(sys.version_info < (3, 11))'
own=/usr/bin/python3
if [ -x "$own" ] && ! python3 -c "$optimised" >/dev/null 2>&1 && "$own" -c "$supported" >/dev/null 2>&1; then
    echo "$own"
else
    echo python3
fi
