@Suite struct SearchTextTests {
  @Test(arguments: [
    ("Lac LÉMAN", "lac leman"), ("l\u{e9}man", "leman"), ("le\u{301}man", "leman"), ("ÉTÉ", "ete"),
    ("Straße", "strasse"), ("STRASSE", "strasse"), ("ΣΊΣΥΦΟΣ", "σισυφοσ"), ("σίσυφος", "σισυφοσ"),
    ("İstanbul", "istanbul"), ("ısparta", "isparta"), ("Łódź", "lodz"), ("smørrebrød", "smorrebrod"),
    ("ﬁnal", "final"), ("Ｌａｋｅ", "lake"), ("Çeşme", "cesme"), ("Ðđ", "ðd"), ("Việt Nam", "viet nam"),
  ])
  func caseAndAccentsMakeNoDifference(text: String, folded: String) {
    #expect(SearchText.folded(text) == folded)
  }

  @Test func marksThatAreLettersOfTheirOwnStay() {
    #expect(SearchText.folded("ガ") != SearchText.folded("カ"))
    #expect(SearchText.folded("カ\u{3099}") == SearchText.folded("ガ"))
    #expect(SearchText.folded("각") == SearchText.folded("각".decomposedStringWithCanonicalMapping))
    #expect(!SearchText.folded("각").unicodeScalars.starts(with: SearchText.folded("가").unicodeScalars))
  }

  @Test func wordsAreSplitAtAnyBlank() {
    #expect(SearchText.words(of: " Lac\u{a0}Léman\t\n") == [Array("lac".utf8), Array("leman".utf8)])
    #expect(SearchText.words(of: " \u{301} ").isEmpty)
  }
}
