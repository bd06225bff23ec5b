#if TansuSync
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
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

/// Requests over connections of AsyncHTTPClient.
package final class ClientTransport: HTTPTransport {
    private let client: HTTPClient

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - trusted: The only certificates that the server's may go back to; those of the system when nil.
    ///   - timeout: The seconds without a byte after which a connection counts as broken.
    package init(trusted: [NIOSSLCertificate]? = nil, timeout: Int64) {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let trusted { tls.trustRoots = .certificates(trusted) }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        // More nanoseconds than an integer holds are never waited for.
        let silence = min(timeout, 1 << 32)
        configuration.timeout = .init(connect: .seconds(min(timeout, Self.connectTimeout)), read: .seconds(silence))
        // The bytes of attachments stay as they are stored; other answers are decompressed by whoever reads them.
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        // A connection that cannot be made is an attempt that failed, which the policy of retries counts.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    deinit { client.shutdown { _ in } }

    package func send(_ call: HTTPCall) async throws -> HTTPAnswer {
        var request = HTTPClientRequest(url: call.url)
        request.method = HTTPMethod(rawValue: call.method)
        for field in call.headers { request.headers.add(name: field.name, value: field.value) }
        switch call.body {
        case .none: break
        case .json(let bytes):
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let type, let length, let make):
            request.headers.add(name: "content-type", value: type)
            request.body = .stream(
                Pieces(stream: try await make()), length: length.map { .known($0) } ?? .unknown)
        }
        do {
            // Silence ends a request, not its length: a feed may be open for days.
            let response = try await client.execute(request, deadline: .distantFuture)
            let body = ResponseBody(response.body)
            return HTTPAnswer(
                status: Int(response.status.code),
                headers: response.headers.map { HTTPField($0.name, $0.value) },
                body: ByteStream { try await body.next() })
        } catch { throw Self.failure(error) }
    }

    fileprivate static func failure(_ error: any Error) -> any Error {
        if Task.isCancelled || error is CancellationError { return CancellationError() }
        switch error {
        case let failure as RemoteFailure: return failure
        // What the source of a streamed body throws is no failure of this server.
        case let error where error is SyncError || error.isOfAttachment: return error
        case let error as NIOSSLError: return failure(ofTLS: error)
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return RemoteFailure(.untrusted, "Its certificate is for another host")
        case let error as HTTPClientError where error == .connectTimeout:
            return RemoteFailure.noAnswer("It accepts no connection for \(connectTimeout) seconds")
        case HTTPParserError.invalidConstant, HTTPParserError.invalidVersion:
            return RemoteFailure.invalidAnswer("It does not speak HTTP; a server with TLS has a URL with https://")
        default: return RemoteFailure.noAnswer(words(for: error))
        }
    }

    /// Why there is no answer. SwiftNIO has names of functions and types in its descriptions.
    private static func words(for error: any Error) -> String {
        switch error {
        case let error as IOError: error.words
        case is SocketAddressError.UnknownHost: "Its host is not known"
        case let error as NIOConnectionError:
            (error.connectionErrors.first?.error ?? error.dnsAError ?? error.dnsAAAAError).map(words) ?? "\(error)"
        case let error as HTTPClientError:
            switch error {
            case .remoteConnectionClosed, .uncleanShutdown: "It closes the connection"
            case .readTimeout: "It sends nothing"
            case .writeTimeout: "It takes nothing"
            case .tlsHandshakeTimeout: "It does not end the TLS handshake"
            default: error.description
            }
        case is HTTPParserError: "It closes the connection before the end of its answer"
        default: "\(error)"
        }
    }

    /// A certificate that is not trusted, and a server without TLS, fail each time.
    private static func failure(ofTLS error: NIOSSLError) -> RemoteFailure {
        // BoringSSL's word, which is between colons, without the file that it comes from.
        let word = "\(error)".parts(separatedBy: ":").map { $0.prefixUntil(" ") }.first { word in
            word.utf8.count > 3 && word.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "_") }
        }
        switch (error, word) {
        case (.unableToValidateCertificate, _), (_, "CERTIFICATE_VERIFY_FAILED"):
            return RemoteFailure(
                .untrusted,
                "Its certificate has expired, or does not go back to an authority that is trusted; trust one with "
                    + "trustedCertificates, or --trusted-certificates of tansu")
        case (_, "WRONG_VERSION_NUMBER"):
            return RemoteFailure(.untrusted, "It does not speak TLS; use http:// instead of https://")
        default: return RemoteFailure.noAnswer("The TLS handshake fails\(word.map { ": " + $0 } ?? "")")
        }
    }

    /// The most seconds until a server accepts a connection.
    private static let connectTimeout: Int64 = 10

    /// The pieces of a body that is sent.
    private struct Pieces: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        let stream: ByteStream

        func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

        struct Iterator: AsyncIteratorProtocol {
            let stream: ByteStream
            mutating func next() async throws -> ByteBuffer? {
                try await stream.next().map { ByteBuffer(bytes: $0) }
            }
        }
    }

    /// `@unchecked Sendable`: a stream has one reader.
    private final class ResponseBody: @unchecked Sendable {
        private var iterator: HTTPClientResponse.Body.AsyncIterator

        init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

        func next() async throws -> [UInt8]? {
            do {
                return try await iterator.next().map { Array($0.readableBytesView) }
            } catch { throw ClientTransport.failure(error) }
        }
    }
}

// MARK: - IOError: words

extension IOError {
    /// What the system says: the description of SwiftNIO has the name of a function.
    package var words: String { String(cString: strerror(errnoCode)) }
}
#endif
