"""The pictures as files: all of a page, each by itself, nothing over them."""

import csv
import io
import xml.etree.ElementTree as ET
import zipfile

from book import figure_files


def test_the_pictures_of_a_page_are_files_that_need_nothing(browser, html, tmp_path):
    tab = browser.new_page(color_scheme="light", reduced_motion="reduce")
    to = tmp_path / "figures.zip"
    count = figure_files.make(tab, html, ["book/05_generators"], to)
    with zipfile.ZipFile(to) as pack:
        listed = list(csv.DictReader(io.StringIO(pack.read("rope-lab-figures/figures.csv").decode())))
        drawn = [
            pack.read(f"rope-lab-figures/{row['file']}").decode() for row in listed if row["file"].endswith(".svg")
        ]
    assert count == len({row["file"].rpartition(".")[0] for row in listed}) > len(drawn) >= 3
    assert all(row["shows"] for row in listed)
    for svg in drawn:
        ET.fromstring(svg)
        assert "var(" not in svg
        assert "currentColor" not in svg
    assert tab.locator("header").first.is_hidden()
    tab.close()
