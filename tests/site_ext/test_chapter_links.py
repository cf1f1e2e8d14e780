"""The links at the end of a chapter and of a lab."""

from chapter_links import Link, links

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
    assert [link.kind for link in links(CHAPTERS, LABS, "book/03_three")] == ["this-lab", "previous-chapter"]
    assert [link.kind for link in links(CHAPTERS, LABS, "notebooks/03_three")] == ["this-chapter"]
    onward = links(CHAPTERS, LABS, "book/03_three", after="book/newer")
    assert onward[0] == Link("next-chapter", "Next", "book/newer")
    assert links(CHAPTERS, LABS, "book/02_two", after="book/newer")[0].page == "book/03_three"
    assert links(CHAPTERS, set(), "book/01_one") == [Link("next-chapter", "Next chapter", "book/02_two")]


def test_control_other_pages_keep_the_links_of_the_theme():
    assert links(CHAPTERS, LABS, "book/notation") == []
    assert links(CHAPTERS, LABS, "book/04_not_listed") == []
