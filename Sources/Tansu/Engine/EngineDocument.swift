import CTansu

extension tansu_document {
    /// The engine's form of a document's bytes. Valid as long as the bytes are.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.baseAddress, size: bytes.count)
    }
}
