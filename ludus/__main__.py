"""`python -m ludus` is the `ludus` command."""

from ludus.cli.main import app

if __name__ == "__main__":
    app(prog_name="ludus")
