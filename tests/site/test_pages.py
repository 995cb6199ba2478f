"""The checks of the site find what they are there to find."""

from tests.site.pages import broken, fetched, read_all, speechless

GOOD = '<h2 id="here">A</h2><a href="b.html#there">b</a><img src="p.png" alt="a b c d e">'


def site(folder, first):
    (folder / "a.html").write_text(first, encoding="utf-8")
    (folder / "b.html").write_text('<p id="there"><a href="a.html">a</a>', encoding="utf-8")
    (folder / "p.png").touch()
    pages = read_all(folder)
    return broken(folder, pages) + fetched(folder, pages) + speechless(pages)


def test_a_sound_site_has_no_faults(tmp_path):
    outward = '<a href="https://example.org/">out</a><img src="data:," alt="a b c d e">'
    assert site(tmp_path, GOOD + outward) == []


def test_each_fault_is_found_and_named(tmp_path):
    faults = {
        '<a href="c.html">c</a>': "a.html: c.html: no such file",
        '<link rel="next" href="c.html">': "a.html: c.html: no such file",
        '<a href="b.html#here">b</a>': "a.html: b.html#here: no such place on the page",
        '<a href="#gone">gone</a>': "a.html: #gone: no such place on the page",
        '<img src="q.png" alt="a b c d e">': "a.html: q.png: no such file",
        '<img src="p.png">': "a.html: p.png",
        '<script src="https://example.org/x.js"></script>': "a.html: https://example.org/x.js",
        '<link rel="icon" href="//example.org/i">': "a.html: //example.org/i",
        '<p style="background: url(https://example.org/i)">': "a.html: https://example.org/i",
    }
    for extra, told in faults.items():
        assert site(tmp_path, GOOD + extra) == [told]


def test_a_style_sheet_that_loads_a_font_is_found(tmp_path):
    css = '@import "https://example.org/a.css"; x { src: url("f.woff2"), url(//example.org/f) }'
    (tmp_path / "s.css").write_text(css, encoding="utf-8")
    assert site(tmp_path, GOOD) == ["s.css: https://example.org/a.css", "s.css: //example.org/f"]
