import Glibc

/// The file system that a file is on.
package struct FileSystem: Sendable, Equatable {
  /// The kernel's name of its type, such as `ext4`; nil if unknown.
  package let kind: String?
  /// The space available to this user, in bytes; nil if unknown.
  package let freeBytes: Int?

  /// Types whose files several machines may change. FUSE types have the form `fuse.sshfs`.
  private static let sharedKinds: Set<String> = [
    "nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "9p", "virtiofs", "afs", "ceph", "lustre", "gpfs", "gfs2",
    "ocfs2", "glusterfs", "sshfs", "rclone", "s3fs", "davfs", "davfs2", "beegfs", "moosefs",
  ]

  /// Whether other machines may use the same files.
  package var isShared: Bool {
    guard let kind else { return false }
    return Self.sharedKinds.contains(kind.hasPrefix("fuse.") ? String(kind.dropFirst(5)) : kind)
  }

  /// The file system of an existing path.
  package init(at path: String) {
    let mounts = KernelFile.text("/proc/self/mountinfo") ?? ""
    let place = RawPath(path).resolved?.description ?? path
    self.init(kind: Self.kind(of: place, mounts: mounts), freeBytes: Self.freeBytes(at: path))
  }

  init(kind: String?, freeBytes: Int?) { (self.kind, self.freeBytes) = (kind, freeBytes) }

  /// The type of the mount that contains a path, from `mountinfo`: `36 35 98:0 /root /place options … - ext4 source …`.
  static func kind(of path: String, mounts: String) -> String? {
    var found: (place: String, kind: String)?
    for line in mounts.split(separator: "\n") {
      guard let dash = line.firstRange(of: " - "), let kind = line[dash.upperBound...].split(separator: " ").first
      else {
        continue
      }
      let fields = line[..<dash.lowerBound].split(separator: " ")
      guard fields.count >= 5 else { continue }
      let place = unescaped(fields[4])
      let isWithin = place == "/" || path == place || path.hasPrefix(place + "/")
      // The later one of two mounts at the same path hides the earlier.
      if isWithin, place.utf8.count >= found?.place.utf8.count ?? 0 { found = (place, String(kind)) }
    }
    return found?.kind
  }

  /// `mountinfo` escapes spaces and the like as a backslash and three octal digits.
  private static func unescaped(_ field: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(field.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func freeBytes(at path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int(clamping: status.f_bavail.multipliedReportingOverflow(by: status.f_frsize).partialValue)
  }
}
