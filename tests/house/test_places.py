"""The page of places is what the suite of places says."""

from tests.conformance.table import page


def test_the_page_of_places_is_what_its_suite_says(root):
    written = (root / "docs" / "places.md").read_text(encoding="utf8")
    assert written == page(), "docs/places.md is stale; write it anew: python scripts/places_table.py"
