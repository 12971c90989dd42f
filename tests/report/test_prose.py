from steelyard.report.prose import prose_html


def test_paragraphs_lists_and_marks():
    text = (
        "One **bold** and *soft* `a_b*c*`.\nSame line.\n\n- first\n- second\n  goes on\n\nLast <b>."
    )
    assert prose_html(text) == (
        "<p>One <strong>bold</strong> and <em>soft</em> <code>a_b*c*</code>. Same line.</p>\n"
        "<ul><li>first</li><li>second goes on</li></ul>\n"
        "<p>Last &lt;b&gt;.</p>"
    )


def test_links_and_lone_signs():
    assert prose_html("[a](b/c.md) 2 * 3 * 4") == '<p><a href="b/c.md">a</a> 2 * 3 * 4</p>'
    assert prose_html("") == ""
    assert prose_html("a ` b") == "<p>a ` b</p>"
