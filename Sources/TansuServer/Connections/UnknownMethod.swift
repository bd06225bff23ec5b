#if TansuServer
    import NIOCore
    import TansuBSON

    extension HTTPFailure {
        /// The answer to a method that the HTTP parser does not know, which ends the parsing: the path is read once more, from the
        /// bytes that arrived last.
        ///
        /// - Parameter allow: The methods of a path.
        static func unknownMethod(in bytes: ByteBuffer, allow: (String) -> String?) -> HTTPFailure {
            let line = bytes.readableBytesView.prefix(4_096).prefix {
                $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n")
            }
            let words = String(decoding: line, as: UTF8.self).parts(separatedBy: " ")
            let isMethod = words.first.map { !$0.isEmpty && $0.utf8.allSatisfy { (0x41...0x5A).contains($0) } } ?? false
            guard words.count == 3, isMethod, words[2].hasPrefix("HTTP/1."), let allow = allow(words[1]) else {
                return .badRequest("The request is not valid HTTP")
            }
            return .methodNotAllowed(allow)
        }
    }
#endif
