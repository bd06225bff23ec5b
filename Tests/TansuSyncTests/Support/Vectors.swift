#if TansuSync
    import CTansuZlib
    import Foundation
    import TansuBSON

    /// The recorded answers of CouchDB in the folder `Resources`; its README says where they are from.
    enum Vectors {
        /// A recorded file, which is plain JSON: `$…` keys have no meaning.
        static func document(_ name: String) throws -> BSONDocument {
            // Not `resourceURL`, because Foundation takes a folder named Resources as that of an application.
            let folder = Bundle.module.bundleURL.appendingPathComponent("Resources")
            var bytes = try [UInt8](Data(contentsOf: folder.appendingPathComponent(name)))
            if name.hasSuffix(".gz") { bytes = try decompressed(bytes) }
            guard case .document(let document) = try BSONValue(plainJSON: bytes) else {
                throw Problem(text: "\(name): no object")
            }
            return document
        }

        struct Problem: Error {
            var text: String
        }

        private static func decompressed(_ bytes: [UInt8]) throws -> [UInt8] {
            var stream = z_stream()
            // 16 asks for gzip's header.
            guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
                throw Problem(text: "zlib cannot be used")
            }
            defer { inflateEnd(&stream) }
            var input = bytes
            var out: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            return try input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                while true {
                    let (code, count) = piece.withUnsafeMutableBufferPointer { piece in
                        stream.next_out = piece.baseAddress
                        stream.avail_out = UInt32(piece.count)
                        return (inflate(&stream, Z_NO_FLUSH), piece.count - Int(stream.avail_out))
                    }
                    out += piece[..<count]
                    if code == Z_STREAM_END { return out }
                    guard code == Z_OK else { throw Problem(text: "The file is no gzip file") }
                }
            }
        }
    }

    extension BSONValue {
        /// The elements of an array; none of any other value.
        var elements: [BSONValue] { arrayValue.map { Array($0) } ?? [] }
    }
#endif
