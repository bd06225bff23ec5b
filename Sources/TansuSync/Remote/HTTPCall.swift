#if TansuSync
    import TansuBSON

    /// A request to a server.
    package struct HTTPCall: Sendable {
        /// What is sent.
        package enum Body: Sendable {
            case none
            case json([UInt8])
            /// Bytes that are made once more for each attempt.
            case stream(type: String, length: Int64?, @Sendable () async throws -> ByteStream)
        }

        package var method: String
        /// The whole URL, percent-encoded.
        package var url: String
        package var headers: [HTTPField]
        package var body: Body

        package init(_ method: String, _ url: String, headers: [HTTPField] = [], body: Body = .none) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }
    }

    /// One header.
    package struct HTTPField: Sendable, Hashable {
        @BytewiseText package private(set) var name: String
        @BytewiseText package private(set) var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The answer of a server, whose body is read as it comes.
    package struct HTTPAnswer: Sendable {
        package let status: Int
        package let headers: [HTTPField]
        package let body: ByteStream

        package init(status: Int, headers: [HTTPField], body: ByteStream) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// The value of the first header of a name, in whatever case.
        package subscript(name: String) -> String? {
            headers.first { $0.name.asciiLowercased == name.asciiLowercased }?.value
        }
    }

    /// Bytes that are read piece by piece, by one reader.
    package struct ByteStream: Sendable {
        /// The next piece; nil at the end.
        package let next: @Sendable () async throws -> [UInt8]?

        package init(next: @escaping @Sendable () async throws -> [UInt8]?) { self.next = next }

        /// The whole of it.
        ///
        /// - Throws: ``RemoteFailure`` when there are more bytes than the limit; what reading throws.
        func all(limit: Int) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            while let piece = try await next() {
                guard bytes.count + piece.count <= limit else {
                    throw RemoteFailure.invalidAnswer("It answers more than \(limit) bytes where few are expected")
                }
                bytes += piece
            }
            return bytes
        }
    }

    /// How requests get to a server.
    package protocol HTTPTransport: Sendable {
        /// Sends a request. Redirects are not followed.
        ///
        /// - Returns: The answer, once its head has come.
        /// - Throws: ``RemoteFailure`` when there is no answer; reading the body throws it when the connection breaks.
        func send(_ call: HTTPCall) async throws -> HTTPAnswer
    }
#endif
