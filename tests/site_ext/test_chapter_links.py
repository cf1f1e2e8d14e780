"""The links at the end of a chapter and of a lab."""

from types import SimpleNamespace

import pytest
from chapter_links import Link, chapters_of, link_first_sentence, links

CHAPTERS = ["book/01_one", "book/02_two", "book/03_three"]
LABS = {"notebooks/01_one", "notebooks/02_two", "notebooks/03_three"}


def test_a_chapter_leads_to_the_next_chapter_first():
    assert links(CHAPTERS, LABS, "book/02_two") == [
        Link("next-chapter", "Next chapter", "book/03_three"),
        Link("this-lab", "Run this chapter", "notebooks/02_two"),
        Link("previous-chapter", "Previous chapter", "book/01_one"),
    ]


def test_a_lab_leads_back_and_on():
    assert links(CHAPTERS, LABS, "notebooks/02_two") == [
        Link("next-chapter", "Next chapter", "book/03_three"),
        Link("this-chapter", "Back to the chapter", "book/02_two"),
    ]


def test_nothing_leads_beyond_the_ends():
    assert [link.kind for link in links(CHAPTERS, LABS, "book/01_one")] == ["next-chapter", "this-lab"]
    assert links(CHAPTERS, LABS, "book/03_three") == [
        Link("this-lab", "Run this chapter", "notebooks/03_three"),
        Link("previous-chapter", "Previous chapter", "book/02_two"),
    ]
    assert [link.kind for link in links(CHAPTERS, LABS, "notebooks/03_three")] == ["this-chapter"]
    onward = links(CHAPTERS, LABS, "book/03_three", after="book/newer")
    assert onward[0] == Link("next-chapter", "Next", "book/newer")
    assert links(CHAPTERS, LABS, "book/02_two", after="book/newer")[0].page == "book/03_three"
    assert links(CHAPTERS, set(), "book/01_one") == [Link("next-chapter", "Next chapter", "book/02_two")]


def test_a_page_with_a_lab_stands_before_the_chapters():
    pages, labs = ["book/small_model", *CHAPTERS], {"notebooks/small_model", *LABS}
    assert links(pages, labs, "notebooks/small_model") == [
        Link("next-chapter", "Next chapter", "book/01_one"),
        Link("this-chapter", "Back to the page", "book/small_model"),
    ]
    assert [link.says for link in links(pages, labs, "book/small_model")] == ["Next chapter", "Run this page"]
    assert links(pages, labs, "book/01_one")[-1] == Link("previous-chapter", "Previous page", "book/small_model")


def application(*pages):
    parts = [SimpleNamespace(items=[page]) for page in ("book/small_model", *CHAPTERS, "book/notation")]
    env = SimpleNamespace(external_site_map=SimpleNamespace(root=SimpleNamespace(subtrees=parts)), found_docs={*pages})
    return SimpleNamespace(env=env, builder=SimpleNamespace(get_relative_uri=lambda _, to: f"../{to}.html"))


def test_the_pages_with_a_lab_are_found_in_the_table_of_contents():
    assert chapters_of(application("notebooks/small_model", *LABS)) == ["book/small_model", *CHAPTERS]
    assert chapters_of(application(*LABS)) == CHAPTERS


@pytest.mark.parametrize(("page", "words"), [("02_two", "chapter 2"), ("small_model", "the page of the same name")])
def test_the_first_sentence_of_a_lab_leads_to_its_chapter(page, words):
    app, sentence = application("book/02_two", "book/small_model"), "<p>This lab belongs to {}. You count.</p>"
    link = f'<a class="reference internal" href="../book/{page}.html">{words}</a>'
    for name, says in ((f"notebooks/{page}", link), (f"book/{page}", words), ("notebooks/other", words)):
        context = {"body": sentence.format(words)}
        link_first_sentence(app, name, "page.html", context, None)
        assert context["body"] == sentence.format(says)


def test_control_other_pages_keep_the_links_of_the_theme():
    assert links(CHAPTERS, LABS, "book/notation") == []
    assert links(CHAPTERS, LABS, "book/04_not_listed") == []
