"""`/docs`: the OpenAPI document as a page; no script, nothing from elsewhere, every text escaped."""

from html import escape

import msgspec

from ludus.server.protocols.openenv.openapi import Document, Operation, Schema

__all__ = ["STYLE", "page"]

STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { margin-bottom: 0; }
section { border: 1px solid #8886; border-radius: .5rem; margin: 1rem 0; padding: 0 1rem 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9rem; }
pre { background: #8882; border-radius: .4rem; overflow-x: auto; padding: .7rem; }
summary { cursor: pointer; }
"""
METHODS = ("get", "post", "delete")


def page(document: Document) -> str:
    """The page of a document.

    >>> info = {"title": "<Pong>", "version": "1", "description": ""}
    >>> empty = {"info": info, "servers": [{"url": "/"}], "paths": {}, "components": {"schemas": {}}}
    >>> "&lt;Pong&gt;" in page(empty)
    True
    """
    info, root = document["info"], document["servers"][0]["url"].rstrip("/")
    title = escape(info["title"])
    schemas = document["components"]["schemas"]
    parts = [
        f"<h1>{title}</h1><p>{escape(info['description'])}</p>",
        f'<p>The same for programs: <a href="{escape(root)}/openapi.json">openapi.json</a>.</p>',
        f"<h2>An episode with curl</h2>{_code(_session(root))}",
        "<h2>Routes</h2>",
        *(_route(f"{root}{path}", one) for path, one in document["paths"].items()),
        "<h2>Schemas</h2>",
        *(_schema(name, one) for name, one in schemas.items()),
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="stylesheet" href="{escape(root)}/docs/style.css">'
    )
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>'


def _session(root: str) -> str:
    return (
        f"curl -c jar -b jar -X POST http://127.0.0.1:8000{root}/reset -d '{{\"seed\": 1}}'\n"
        f"curl -c jar -b jar -X POST http://127.0.0.1:8000{root}/step -d '{{\"action\": …}}'\n"
        f"curl -b jar http://127.0.0.1:8000{root}/state"
    )


def _route(path: str, operations: dict[str, Operation]) -> str:
    shown: list[str] = []
    for method in METHODS:
        if method not in operations:
            continue
        one = operations[method]
        shown.append(f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(one['summary'])}</p>")
        if "requestBody" in one:
            shown.append(f"<p>Body:</p>{_json(one['requestBody']['content']['application/json']['schema'])}")
        shown.append(f"<p>Reply:</p>{_json(one['responses']['200']['content']['application/json']['schema'])}")
    return f"<section>{''.join(shown)}</section>"


def _schema(name: str, schema: Schema) -> str:
    return f"<details><summary><code>{escape(name)}</code></summary>{_json(schema)}</details>"


def _json(data: object) -> str:
    return _code(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())


def _code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"
