#if TansuSync
    import Foundation
    import TansuBSON

    /// The headers of a part.
    package struct MultipartHead: Sendable, Hashable {
        /// Names as they were sent, and values.
        package var headers: [Header]

        /// One header.
        package struct Header: Sendable, Hashable {
            @BytewiseText package private(set) var name: String
            @BytewiseText package private(set) var value: String
        }

        /// The value of the first header of a name, in whatever case.
        package subscript(name: String) -> String? {
            headers.first { $0.name.asciiLowercased == name.asciiLowercased }?.value
        }

        /// The media type; nil without a Content-Type.
        package var contentType: MediaType? { self["content-type"].map { MediaType($0) } }

        /// The name of the attachment in the part, where the header is well-formed.
        package var filename: String? {
            disposition.flatMap { $0["filename*"].flatMap(Self.decoded) ?? $0["filename"] }
        }

        private var disposition: MediaType? { self["content-disposition"].map { MediaType($0) } }

        /// Whether the head can be that of an attachment: CouchDB writes the name as it is, so that one with a quotation mark or a backslash
        /// reads as another name.
        package func fits(_ name: String) -> Bool {
            if let filename, !filename.isEmpty, filename == name { return true }
            return self["content-disposition"] == "attachment; filename=\"\(name)\""
        }

        /// Text in the form of RFC 5987, such as `UTF-8''%C3%A4`.
        private static func decoded(_ text: String) -> String? {
            let parts = text.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, String(Substring(parts[0])).asciiLowercased == "utf-8" else { return nil }
            return String(Substring(parts[2])).removingPercentEncoding
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

        /// Reads the lines of a head without the empty line after them. A line that is no header is left out: CouchDB writes the name of an
        /// attachment as it is, line breaks included.
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
                if let header = Self.header(line) { headers.append(header) }
            }
        }

        private static func header(_ line: ArraySlice<UInt8>) -> Header? {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
            return Header(name: name, value: value.trimmingSpaces)
        }
    }
#endif
