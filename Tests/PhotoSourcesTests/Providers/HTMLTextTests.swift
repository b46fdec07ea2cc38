@testable import PhotoSources

@Suite struct HTMLTextTests {
  @Test(arguments: [
    ("plain", "plain"), ("a < b & c", "a < b & c"), ("I <3 lakes", "I <3 lakes"),
    ("<b>A</b>da", " A da"),
    ("A&amp;B &lt;3&gt; &quot;x&quot; &#39;&#x41;", "A&B <3> \"x\" 'A"), ("&unknown; &", "&unknown; &"),
    ("<style>p { color: red }</style>x", "  x"), ("a<!-- no -->b", "a b"), ("<a href=\"x\">open", " open"), ("<b", " "),
    ("", ""), ("<script>never", " "),
    ("a<span style=\"display: none;\">label QS:P170,Q1</span>b", "a b"),
    ("a<DIV class='x' STYLE='color: red; Display : None !important'><div>b</div>c</DIV>d", "a d"),
    ("a<b style=display:none>b<br>c</b>d", "a d"), ("a<i style=\"display:none\">b<!-- </i> -->c</i>d", "a d"),
    ("a<i style=\"display:none\">never", "a "), ("a<br style=\"display:none\">b", "a b"),
    ("<i style=\"display:inline\">a</i>", " a "), ("<i title=\"style=display:none\">a</i>", " a "),
    ("<i style=\"x:display:none\">a</i>", " a "),
  ])
  func takesTheTagsAway(html: String, text: String) {
    #expect(HTMLText.plain(html) == text)
  }

  @Test func findsTheFirstLink() {
    #expect(HTMLText.firstLink("<a title=\"t\" href=\"//x.org/?a=1&amp;b=2\">X</a>") == "//x.org/?a=1&b=2")
    #expect(HTMLText.firstLink("nobody") == nil)
    #expect(HTMLText.firstLink("<a href=\"broken") == nil)
  }
}
