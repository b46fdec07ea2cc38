/// The error message in an API's response. Each API has its own format.
struct APIErrorResponse: Decodable {
  /// The message; nil if there is none.
  let text: String?

  private enum CodingKeys: CodingKey { case errors, error, detail, message }
  private struct Information: Decodable { let info: String }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    if let errors = try? values.decode([String].self, forKey: .errors), !errors.isEmpty {
      text = errors.joined(separator: ", ")
    } else if let error = try? values.decode(Information.self, forKey: .error) {
      text = error.info
    } else if let fields = try? values.decode([String: [String]].self, forKey: .detail) {
      text = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: ", "))" }
        .joined(separator: ", ")
    } else {
      let keys: [CodingKeys] = [.error, .detail, .message]
      text = keys.lazy.compactMap { try? values.decode(String.self, forKey: $0) }.first { !$0.isEmpty }
    }
  }
}
