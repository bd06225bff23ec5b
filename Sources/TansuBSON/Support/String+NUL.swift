extension String {
    /// The text with every NUL replaced by U+FFFD, for keys and regular expressions, which BSON stores NUL-terminated.
    @inline(__always)
    func replacingNUL() -> String {
        guard utf8.contains(0) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
