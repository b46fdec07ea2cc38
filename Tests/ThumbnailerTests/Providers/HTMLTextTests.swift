import Testing

@testable import Thumbnailer

@Suite struct HTMLTextTests {
  @Test(arguments: [
    ("plain", "plain"), ("a < b & c", "a < b & c"), ("<b>A</b>da", " A da"),
    ("A&amp;B &lt;3&gt; &quot;x&quot; &#39;&#x41;", "A&B <3> \"x\" 'A"), ("&unknown; &", "&unknown; &"),
    ("<style>p { color: red }</style>x", "  x"), ("a<!-- no -->b", "a b"), ("<a href=\"x\">open", " open"), ("<b", " "),
    ("", ""), ("<script>never", " "),
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
