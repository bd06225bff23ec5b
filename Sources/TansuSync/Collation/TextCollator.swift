#if TansuSync
import CTansuCollation
import TansuBSON

/// The order of text in CouchDB: ICU's root collation with its default attributes.
///
/// Control characters and others that ICU ignores make no difference, so texts of different bytes can be equal. The
/// order of two texts may differ between versions of ICU; CouchDB has the same dependency.
final class TextCollator: @unchecked Sendable {
    // ICU allows calls of several threads at the same time, because nothing changes the collator after it was opened.
    private let collator: UnsafeMutableRawPointer

    init() throws(CollationError) {
        var code: Int32 = 0
        guard let collator = tansu_collation_open(&code) else { throw Self.error(code) }
        self.collator = collator
    }

    deinit { tansu_collation_close(collator) }

    /// The order of two texts.
    func order(_ a: String, _ b: String) throws(CollationError) -> Collation.Order {
        var a = a
        var b = b
        var code: Int32 = 0
        let result = a.withUTF8 { a in
            b.withUTF8 { b in
                if a.elementsEqual(b) { return 0 as Int32 }
                return a.withMemoryRebound(to: CChar.self) { a in
                    b.withMemoryRebound(to: CChar.self) { b in
                        // An empty buffer may have no address, which ICU takes only with a length of 0.
                        tansu_collation_compare(
                            collator, a.baseAddress, Int32(clamping: a.count), b.baseAddress,
                            Int32(clamping: b.count), &code)
                    }
                }
            }
        }
        guard code == 0 else { throw Self.error(code) }
        return Collation.Order(result)
    }

    /// Appends the sort key of a text: the bytes of keys have the order of the texts. It ends with the only 0 in it.
    func appendKey(of text: String, to key: inout [UInt8]) throws(CollationError) {
        var text = text
        var code: Int32 = 0
        // Enough for most texts of the world's scripts; else it is tried again.
        var capacity = text.utf8.count * 3 + 32
        while true {
            var needed = 0
            let part = text.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) { text in
                    [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                        // An empty buffer may have no address, which ICU takes only with a length of 0.
                        needed = Int(
                            tansu_collation_key(
                                collator, text.baseAddress, Int32(clamping: text.count), buffer.baseAddress,
                                Int32(clamping: capacity), &code))
                        count = min(needed, capacity)
                    }
                }
            }
            guard code == 0 else { throw Self.error(code) }
            if needed <= capacity {
                key += part
                return
            }
            capacity = needed
        }
    }

    private static func error(_ code: Int32) -> CollationError {
        CollationError(name: tansu_collation_error_name(code).map { String(cString: $0) } ?? "error \(code)")
    }
}
#endif
