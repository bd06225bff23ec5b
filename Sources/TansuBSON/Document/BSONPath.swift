/// A dotted path, such as `pet.species` or `tags.0`. In its text, `\.` is a dot inside a key and `\\` a backslash.
package struct BSONPath: Sendable, Hashable {
    package var keys: [String]

    /// Parses a path.
    ///
    /// - Throws: ``BSONError`` when the path or one of its keys is empty.
    package init(_ text: String) throws(BSONError) {
        var keys = [""]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                // A backslash before anything else is part of the key.
                if scalar != "." && scalar != "\\" { keys[keys.count - 1].unicodeScalars.append("\\") }
                keys[keys.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "." {
                keys.append("")
            } else {
                keys[keys.count - 1].unicodeScalars.append(scalar)
            }
        }
        if isEscaped { keys[keys.count - 1] += "\\" }
        guard !keys.contains("") else {
            throw BSONError(.invalidPath, "The path has an empty key", keyPath: text)
        }
        guard keys.count <= BSONDocument.maximumDepth else {
            throw BSONError(.tooDeep, "The path has more than \(BSONDocument.maximumDepth) keys")
        }
        self.keys = keys
    }
}
