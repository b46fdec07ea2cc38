@testable import thumbs

/// QR codes. `test_share.py` has one read by another program.
@Suite struct QRCodeTests {
  /// As the Python package `qrcode` 8.2 draws it with mask 3; it was the same for each length from 1 to 106.
  @Test func aCodeHasTheModulesOfTheStandard() throws {
    let code = try #require(QRCode("http://192.168.17"))
    let rows = (0..<code.side).map { row in (0..<code.side).map { code[row, $0] ? "#" : "." }.joined() }
    #expect(
      rows == [
        "#######.##.#..#######", "#.....#..#.#..#.....#", "#.###.#.#.#.#.#.###.#", "#.###.#.#.##..#.###.#",
        "#.###.#.##.##.#.###.#", "#.....#..#....#.....#", "#######.#.#.#.#######", "...........#.........",
        "####..#.#.#.##..###.#", ".###....####....#####", "..##..###..#.##..#.##", "..#.##.#....##.#.#.#.",
        ".#...##.##.####.##..#", "........##..#...#....", "#######..##.....#....", "#.....#..#.##...####.",
        "#.###.#...##.#.##.#.#", "#.###.#.######.......", "#.###.#.###.#.##..#..", "#.....#.##.##.#.##..#",
        "#######.##.####..##..",
      ])
  }

  @Test(arguments: [(1, 21), (17, 21), (18, 25), (32, 25), (33, 29), (53, 29), (54, 33), (78, 33), (79, 37), (106, 37)])
  func aTextHasTheSmallestVersion(count: Int, side: Int) {
    #expect(QRCode(String(repeating: "a", count: count))?.side == side)
  }

  @Test func aLongTextHasNone() { #expect(QRCode(String(repeating: "a", count: 107)) == nil) }

  @Test func aCodeHasLightModulesAroundIt() throws {
    let lines = try #require(QRCode("a")).lines
    #expect(lines.count == 15 && lines[0].contains(String(repeating: "█", count: 29)))
  }
}
