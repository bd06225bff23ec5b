#if TansuSync
    import TansuBSON

    /// The headers of a part.
    package struct MultipartHead: Sendable, Hashable {
        /// Names as they were sent, and values.
        package var headers: [Header]

        /// One header.
        package struct Header: Sendable, Hashable {
            package let name: String
            package let value: String
        }

        /// The value of the first header of a name, in whatever case.
        package subscript(name: String) -> String? {
            headers.first { $0.name.asciiLowercased == name.asciiLowercased }?.value
        }

        /// The media type; nil without a Content-Type.
        package var contentType: MediaType? { self["content-type"].map { MediaType($0) } }

        /// The name of the attachment in the part.
        package var filename: String? {
            self["content-disposition"].flatMap { MediaType($0)["filename"] }
        }

        /// Content-Encoding, unless it is `identity`.
        package var contentEncoding: String? {
            self["content-encoding"].flatMap { $0.asciiLowercased == "identity" ? nil : $0.asciiLowercased }
        }

        /// Content-Length.
        func length() throws(MultipartError) -> Int64? {
            guard let text = self["content-length"] else { return nil }
            guard let length = Int64(text), length >= 0, text.utf8.first != UInt8(ascii: "+") else {
                throw MultipartError(.invalidHeader, "The Content-Length \"\(text)\" of a part is no number of bytes")
            }
            return length
        }

        /// Reads the lines of a head without the empty line after them.
        init(lines: ArraySlice<UInt8>, maximumCount: Int) throws(MultipartError) {
            headers = []
            var rest = lines
            while !rest.isEmpty {
                let end = rest.indices.first { rest[$0] == 0x0D && $0 + 1 < rest.endIndex && rest[$0 + 1] == 0x0A }
                let line = rest[..<(end ?? rest.endIndex)]
                rest = rest[(end.map { $0 + 2 } ?? rest.endIndex)...]
                guard headers.count < maximumCount else {
                    throw MultipartError(.headTooLarge, "A part has more than \(maximumCount) headers")
                }
                headers.append(try Self.header(line))
            }
        }

        private static func header(_ line: ArraySlice<UInt8>) throws(MultipartError) -> Header {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
                let value = String(validating: line[(colon + 1)...], as: UTF8.self)
            else { throw MultipartError(.invalidHeader, "A line in the head of a part is no header") }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            return Header(name: name, value: value.trimmingSpaces)
        }
    }
#endif
