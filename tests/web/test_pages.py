"""The static files: what is served, with which headers, and what is not in them."""

import re
from pathlib import Path

import httpx
import pytest

import ludus.web
from ludus.web.pages import routes

STATIC = Path(ludus.web.__file__).parent / "static"
FILES = sorted(path.name for path in STATIC.iterdir())
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.fixture
def http(running):
    with httpx.Client(base_url=running.url) as client:
        yield client


def version(http):
    return re.search(r"static/(\w{12})/app\.js", http.get("/").text)[1]


def test_the_first_page_is_html_under_a_strict_policy(http):
    answer = http.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-cache"


def test_the_first_page_names_only_files_that_are_there(http):
    named = re.findall(r'(?:src|href)="(static/[^"]+)"', http.get("/").text)
    assert len(named) >= 6
    assert {http.get(f"/{one}").status_code for one in named} == {200}


@pytest.mark.parametrize("name", [name for name in FILES if name != "index.html"])
def test_a_file_has_its_type_and_is_kept_for_ever_under_its_version(http, name):
    answer = http.get(f"/static/{version(http)}/{name}")
    assert answer.content == (STATIC / name).read_bytes()
    assert answer.headers["content-type"].startswith(TYPES[Path(name).suffix])
    assert "immutable" in answer.headers["cache-control"]
    assert http.get(f"/static/{name}").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/static/app.js"])
def test_what_a_browser_has_is_not_sent_again(http, path):
    tag = http.get(path).headers["etag"]
    again = http.get(path, headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert http.get(path, headers={"if-none-match": '"another"'}).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["", "app.py", "../pages.py", "%2e%2e/pages.py", "..%2fpages.py", "%2fetc%2fpasswd", "index.html", "0/app.js"],
)
def test_nothing_else_is_served(http, path):
    request = http.build_request("GET", f"/static/{path}")
    request.url = httpx.URL(f"{http.base_url}", raw_path=f"/static/{path}".encode())
    assert http.send(request).status_code == 404


def test_only_reading_is_answered(http):
    assert http.post("/").status_code == 405
    assert http.head("/static/app.js").status_code == 200


@pytest.mark.parametrize("name", FILES)
def test_a_file_names_no_outside_address(name):
    text = (STATIC / name).read_text(encoding="utf8").replace(NAMESPACE, "")
    assert re.findall(r"https?://|[\"'(]//\w", text) == []


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".js")])
def test_no_script_can_make_markup_of_text(name):
    text = (STATIC / name).read_text(encoding="utf8")
    # dom.js names them to refuse them.
    found = re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function", text)
    assert found == []


def test_the_first_page_has_no_script_or_style_of_its_own():
    text = (STATIC / "index.html").read_text(encoding="utf8")
    assert re.findall(r"<style|\sstyle=|\son\w+=|<script>", text) == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_at_most_300_lines(name):
    assert len((STATIC / name).read_text(encoding="utf8").splitlines()) <= 300


def test_the_routes_are_two():
    assert [route.path for route in routes()] == ["/", "/static/{path:path}"]
