@Suite struct RedactionTests {
  @Test(arguments: [
    ("http://ada:PW@h.example/a b.jpg?token=S&w=1#part", "http://***@h.example/a b.jpg?token=***&w=***"),
    ("http://h/?SECRET", "http://h/?***"), ("http://h/a?x=1&&SECRET=", "http://h/a?x=***&SECRET=***"),
    ("http://h/a#SECRET", "http://h/a"), ("http://h/a?a#b=SECRET", "http://h/a?***"),
    ("http://p/http://ada:PW@h/?k=S", "http://p/http://***@h/?k=***"),
    ("http://h/?u=http://ada:PW@h/", "http://h/?u=***"),
    ("s3://ada:PW@bucket/key", "s3://***@bucket/key"), ("http://h/a@b", "http://h/a@b"), ("/a?b@c.jpg", "/a?b@c.jpg"),
  ])
  func anAddressKeepsNoSecret(address: String, shown: String) {
    #expect(address.withoutSecrets(isAddress: true) == shown && shown.withoutSecrets(isAddress: true) == shown)
  }

  @Test func inASentenceItEndsAtASpace() {
    let text = "“http://h/?k=S” leads to http://ada:PW@h/b?k=S: who?"
    #expect(text.withoutSecrets() == "“http://h/?k=***” leads to http://***@h/b?k=***: who?")
    #expect(text.withoutLogins == "“http://h/?k=S” leads to http://***@h/b?k=S: who?")
  }
}
