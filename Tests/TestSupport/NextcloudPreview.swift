import Foundation

/// The address that Nextcloud's `lib/private/Preview/Imaginary.php` sends a picture to, with PHP's encoding of queries.
public func nextcloudPreview(
  _ width: Int, _ height: Int, crop: Bool = false, type: String = "jpeg", quality: String = "80",
  first: String? = #"{"operation":"autorotate"}"#, key: String = ""
) -> String {
  let last =
    #"{"operation":"\#(crop ? "smartcrop" : "fit")","params":{"width":\#(width),"height":\#(height),"#
    + #""stripmeta":"true","type":"\#(type)","norotation":"true","quality":"\#(quality)"}}"#
  return
    "/pipeline?operations=\(queryEncoded("[\([first, last].compactMap(\.self).joined(separator: ","))]"))&key=\(key)"
}

/// A text as the value of a query.
public func queryEncoded(_ text: String) -> String {
  text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
}
