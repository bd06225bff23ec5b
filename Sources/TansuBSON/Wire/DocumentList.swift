extension UnsafeRawBufferPointer {
    /// Calls a closure with the bytes of each document in the array that is the first field of a document. Other elements
    /// are passed over.
    package func forEachDocumentOfFirstArray(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        guard count >= 5, let array = element(at: 4, end: count - 1), array.type == .array else { return }
        var offset = array.valueStart + 4
        while let document = element(at: offset, end: array.valueEnd - 1) {
            if document.type == .document {
                try body(UnsafeRawBufferPointer(rebasing: self[document.valueStart..<document.valueEnd]))
            }
            offset = document.valueEnd
        }
    }
}
