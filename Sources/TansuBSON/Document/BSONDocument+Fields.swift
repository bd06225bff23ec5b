extension UnsafeRawBufferPointer {
    /// The offset of the zero byte that ends the document in these bytes.
    @inline(__always)
    var documentEnd: Int { count - 1 }

    /// The element with a key, searched from the front.
    func element(forKey key: String, from start: Int = 4) -> RawElement? {
        var text = key
        if let element = text.withUTF8({ element(forKey: $0, from: start) }) { return element }
        return key.bytesWithNUL.flatMap { $0.withUnsafeBufferPointer { element(forKey: $0, from: start) } }
    }

    private func element(forKey wanted: UnsafeBufferPointer<UInt8>, from start: Int) -> RawElement? {
        var offset = start
        while let element = element(at: offset, end: documentEnd) {
            if element.keyLength == wanted.count, hasBytes(wanted, at: element.keyStart) { return element }
            offset = element.valueEnd
        }
        return nil
    }

    @inline(__always)
    func hasBytes(_ wanted: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
        for i in 0..<wanted.count where self[offset &+ i] != wanted[i] { return false }
        return true
    }
}

extension BSONDocument {
    /// The value of the field with a key.
    ///
    /// Setting a value replaces the field in its position or appends a new one. Setting nil removes the field; set
    /// `.null` to store a null.
    public subscript(key: String) -> BSONValue? {
        get {
            bytes.withUnsafeBytes { bytes in
                bytes.element(forKey: key).flatMap { bytes.value($0) }
            }
        }
        set {
            if let newValue {
                setValue(newValue, forKey: key)
            } else {
                removeValue(forKey: key)
            }
        }
    }

    /// The value of the field with a key, or a default when there is none.
    public subscript(key: String, default defaultValue: @autoclosure () -> BSONValue) -> BSONValue {
        get { self[key] ?? defaultValue() }
        set { self[key] = newValue }
    }

    /// The value of the field with the name of a member: `document.name` is `document["name"]`.
    public subscript(dynamicMember key: String) -> BSONValue? {
        get { self[key] }
        set { self[key] = newValue }
    }

    /// Removes the field with a key and returns its value, or nil when there is none.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> BSONValue? {
        let found = bytes.withUnsafeBytes { bytes in
            bytes.element(forKey: key).map { ($0, bytes.value($0)) }
        }
        guard let (element, value) = found else { return nil }
        bytes.removeSubrange(element.start..<element.valueEnd)
        patchLength()
        return value
    }

    /// Whether there is a field with a key, which may be null.
    public func contains(key: String) -> Bool {
        bytes.withUnsafeBytes { $0.element(forKey: key) != nil }
    }

    private mutating func setValue(_ value: BSONValue, forKey key: String) {
        guard let old = bytes.withUnsafeBytes({ $0.element(forKey: key) }) else {
            append(value, key: key)
            return
        }
        bytes.replaceSubrange(old.start..<old.valueEnd, with: ByteBuffer(field: key, value).array())
        patchLength()
    }

    /// Adds a field at the end without looking for one with the same key.
    mutating func append(_ value: BSONValue, key: String) {
        bytes.insert(contentsOf: ByteBuffer(field: key, value).array(), at: bytes.count - 1)
        patchLength()
    }

    mutating func patchLength() {
        // Input cannot get here: decoding, encoding and JSON reject documents of 2 GiB with an error.
        precondition(bytes.count <= Int(Int32.max), "A document must not exceed 2 GiB")
        let length = UInt32(bytes.count)
        for i in 0..<4 { bytes[i] = UInt8(truncatingIfNeeded: length >> (8 * i)) }
    }
}

extension ByteBuffer {
    fileprivate init(field key: String, _ value: BSONValue) {
        self.init(capacity: 64)
        append(field: key, value)
    }

    /// Appends a whole element.
    mutating func append(field key: String, _ value: BSONValue) {
        append(value.type.rawValue)
        append(cString: key)
        append(value)
    }
}
