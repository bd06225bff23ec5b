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

// MARK: - BSONDocument: path

extension BSONDocument {
    /// The value at a dotted path, such as `pet.species` or `tags.0`, or nil when there is none.
    ///
    /// In the text of a path, `\.` is a dot inside a key. The value at a malformed path is nil.
    ///
    /// Setting a value creates the documents that are missing on the path, setting nil removes the field. Where
    /// ``setValue(_:atPath:)`` or ``removeValue(atPath:)`` would throw, such as below a number, nothing is changed: as with
    /// optional chaining in Swift.
    public subscript(path path: String) -> BSONValue? {
        get { (try? BSONPath(path)).flatMap { value(at: $0) } }
        set {
            if let newValue {
                try? setValue(newValue, atPath: path)
            } else {
                _ = try? removeValue(atPath: path)
            }
        }
    }

    /// The value at a path, or nil when there is none.
    package func value(at path: BSONPath) -> BSONValue? {
        var value = BSONValue.document(self)
        for key in path.keys {
            guard let next = value[field: key] else { return nil }
            value = next
        }
        return value
    }

    /// The value at a dotted path, or a default when there is none.
    public subscript(path path: String, default defaultValue: @autoclosure () -> BSONValue) -> BSONValue {
        get { self[path: path] ?? defaultValue() }
        set { self[path: path] = newValue }
    }

    /// Sets the value at a dotted path and creates the documents that are missing on the path.
    ///
    /// A position in an array replaces that element. The position after the last element appends.
    ///
    /// - Throws: ``BSONError`` when the path is malformed, passes through a value that has no fields, or has a
    ///   position beyond the end of an array.
    public mutating func setValue(_ value: BSONValue, atPath path: String) throws(BSONError) {
        let keys = try BSONPath(path).keys
        try set(value, keys[...], path)
    }

    /// Removes the value at a dotted path and returns it, or nil when there is none.
    ///
    /// Removing an element of an array moves the following elements forward.
    ///
    /// - Throws: ``BSONError`` when the path is malformed.
    @discardableResult
    public mutating func removeValue(atPath path: String) throws(BSONError) -> BSONValue? {
        let keys = try BSONPath(path).keys
        guard self[path: path] != nil else { return nil }
        return remove(keys[...])
    }

    private mutating func set(_ value: BSONValue, _ keys: ArraySlice<String>, _ path: String) throws(BSONError) {
        guard let key = keys.first else { return }
        guard !key.utf8.contains(0) else {
            throw BSONError(.invalidKey, "A key contains a NUL character", keyPath: path)
        }
        self[key] = try Self.replaced(self[key], value, keys.dropFirst(), path)
    }

    /// The new value for a field after a value was set at the rest of a path below it.
    private static func replaced(
        _ old: BSONValue?, _ value: BSONValue, _ rest: ArraySlice<String>, _ path: String
    ) throws(BSONError) -> BSONValue {
        guard let key = rest.first else { return value }
        switch old {
        case nil:
            var document = BSONDocument()
            try document.set(value, rest, path)
            return .document(document)
        case .document(var document):
            try document.set(value, rest, path)
            return .document(document)
        case .array(let array):
            var values = Array(array)
            guard let position = Int(key), position >= 0, position <= values.count else {
                throw BSONError(
                    .invalidPath, "\"\(key)\" is not a position in an array of \(values.count) elements",
                    keyPath: path)
            }
            let element = position < values.count ? values[position] : nil
            let new = try replaced(element, value, rest.dropFirst(), path)
            if position < values.count { values[position] = new } else { values.append(new) }
            return .array(BSONArray(values))
        case .some(let other):
            throw BSONError(
                .invalidPath, "A value of type \"\(other.type)\" has no field \"\(key)\"", keyPath: path)
        }
    }

    /// Removes the value at a path that is known to exist.
    private mutating func remove(_ keys: ArraySlice<String>) -> BSONValue? {
        guard let key = keys.first else { return nil }
        let rest = keys.dropFirst()
        if rest.isEmpty { return removeValue(forKey: key) }
        guard let old = self[key], let (new, removed) = Self.removing(rest, from: old) else { return nil }
        self[key] = new
        return removed
    }

    private static func removing(
        _ keys: ArraySlice<String>, from value: BSONValue
    ) -> (value: BSONValue, removed: BSONValue)? {
        switch value {
        case .document(var document):
            return document.remove(keys).map { (.document(document), $0) }
        case .array(let array):
            var values = Array(array)
            guard let key = keys.first, let position = Int(key), values.indices.contains(position) else { return nil }
            let rest = keys.dropFirst()
            if rest.isEmpty {
                let removed = values.remove(at: position)
                return (.array(BSONArray(values)), removed)
            }
            guard let (new, removed) = removing(rest, from: values[position]) else { return nil }
            values[position] = new
            return (.array(BSONArray(values)), removed)
        default:
            return nil
        }
    }
}

extension BSONValue {
    /// The value of a field of a document or at a position of an array.
    fileprivate subscript(field key: String) -> BSONValue? {
        switch self {
        case .document(let document): document[key]
        case .array(let array): Int(key).flatMap { array[$0] }
        default: nil
        }
    }
}
