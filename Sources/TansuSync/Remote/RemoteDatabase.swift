#if TansuSync
import Foundation
import Tansu
import TansuBSON

/// A database on a server, and how requests to it are repeated.
struct RemoteDatabase: Sendable {
    /// The greatest number of bytes of an answer that is about one thing.
    static let smallAnswer = 1 << 20
    /// The greatest number of bytes of one element of an answer: a document with all of its conflicts.
    static let elementLimit = 128 << 20
    private static let redirectLimit = 5

    let url: RemoteURL
    private let transport: any HTTPTransport
    private let session: RemoteSession
    private let retries: RetryPolicy
    /// Called before each wait: why, and for how many seconds.
    private let onRetry: @Sendable (RemoteFailure, Double) -> Void
    /// Called when a request succeeds that had failed before.
    private let onRecovery: @Sendable () -> Void

    init(
        _ url: RemoteURL, credentials: RemoteCredentials = .none, transport: any HTTPTransport,
        retries: RetryPolicy, onRetry: @escaping @Sendable (RemoteFailure, Double) -> Void = { _, _ in },
        onRecovery: @escaping @Sendable () -> Void = {}
    ) {
        self.url = url
        self.transport = transport
        session = RemoteSession(credentials, url, transport)
        self.retries = retries
        self.onRetry = onRetry
        self.onRecovery = onRecovery
    }

    // MARK: Requests

    /// Sends a request to a path below the database, again and again while it fails for a reason that may pass.
    ///
    /// - Parameters:
    ///   - path: Percent-encoded, without a slash at the beginning.
    ///   - accepted: The statuses other than 2xx that `read` takes.
    ///   - read: Reads the answer; called once for each attempt that has one.
    /// - Throws: ``RemoteFailure`` for any other status; what `read` throws.
    func perform<Result: Sendable>(
        _ method: String, _ path: String, query: [(String, String)] = [], headers: [HTTPField] = [],
        body: HTTPCall.Body = .none, accepted: Set<Int> = [],
        _ read: @Sendable (HTTPAnswer) async throws -> Result
    ) async throws -> Result {
        try await retrying {
            let answer = try await send(method, path, query: query, headers: headers, body: body)
            guard 200..<300 ~= answer.status || accepted.contains(answer.status) else {
                throw try await Self.failure(answer)
            }
            return try await read(answer)
        }
    }

    /// Sends a request whose answer is small JSON.
    func json(
        _ method: String, _ path: String, query: [(String, String)] = [], body: [UInt8]? = nil,
        accepted: Set<Int> = [], limit: Int = RemoteDatabase.smallAnswer
    ) async throws -> (status: Int, value: BSONValue) {
        try await perform(
            method, path, query: query, body: body.map { .json($0) } ?? .none, accepted: accepted
        ) { answer in
            let bytes = try await Self.decoded(answer).all(limit: limit)
            return (answer.status, try Self.value(bytes))
        }
    }

    /// Does something again and again while it fails for a reason that may pass.
    func retrying<Result>(_ body: () async throws -> Result) async throws -> Result {
        var attempts = 0
        while true {
            do {
                let result = try await body()
                if attempts > 0 { onRecovery() }
                return result
            } catch var failure as RemoteFailure {
                failure.location = url.text
                guard failure.isTransient else { throw failure }
                attempts += 1
                try Task.checkCancellation()
                guard attempts < retries.attempts else { throw failure }
                let delay = retries.delay(after: attempts, atLeast: failure.retryAfter)
                onRetry(failure, delay)
                try await retries.sleep(delay)
            }
        }
    }

    /// Waits as after some attempts that have failed.
    func pause(after attempts: Int) async throws { try await retries.sleep(retries.delay(after: attempts)) }

    /// Sends a request once; redirects are followed, and refused credentials are renewed.
    func send(
        _ method: String, _ path: String, query: [(String, String)] = [], headers: [HTTPField] = [],
        body: HTTPCall.Body = .none
    ) async throws -> HTTPAnswer {
        var target = url.text + (path.isEmpty ? "" : "/" + path)
        for (index, (name, value)) in query.enumerated() {
            target += (index == 0 ? "?" : "&") + name + "=" + RemoteURL.encoded(value)
        }
        var isRenewed = false
        var redirects = 0
        while true {
            var call = HTTPCall(
                method, target,
                headers: headers + [HTTPField("user-agent", "Tansu")], body: body)
            if !headers.contains(where: { $0.name == "accept" }) {
                call.headers.append(HTTPField("accept", "application/json"))
            }
            if !headers.contains(where: { $0.name == "accept-encoding" }) {
                call.headers.append(HTTPField("accept-encoding", "gzip"))
            }
            var version = 0
            if RemoteURL.haveOneOrigin(target, url.text) {
                let shown = try await session.headers()
                call.headers += shown.fields
                version = shown.version
            }
            let answer = try await transport.send(call)
            if answer.status == 401, !isRenewed, await session.refuse(version) {
                isRenewed = true
                continue
            }
            guard [301, 302, 307, 308].contains(answer.status) else { return answer }
            redirects += 1
            guard redirects <= Self.redirectLimit, let location = answer["location"],
                let next = RemoteURL.target(of: location, from: target)
            else {
                throw RemoteFailure.invalidAnswer("It redirects without an end, or to what is no URL to follow")
            }
            target = next
        }
    }

    // MARK: Answers

    /// The body of an answer, decompressed.
    static func decoded(_ answer: HTTPAnswer) throws -> ByteStream {
        switch answer["content-encoding"]?.asciiLowercased {
        case nil, "", "identity": return answer.body
        case "gzip", "x-gzip": return try answer.body.decompressed()
        case let encoding?: throw RemoteFailure.invalidAnswer("Its answer has the unknown encoding \"\(encoding)\"")
        }
    }

    static func value(_ bytes: [UInt8]) throws -> BSONValue {
        do { return try BSONValue(wireJSON: bytes, documentDepth: 100) } catch {
            throw RemoteFailure.invalidAnswer("Its answer is no JSON: \(error)")
        }
    }

    /// What a status other than 2xx says.
    static func failure(_ answer: HTTPAnswer) async throws -> RemoteFailure {
        let bytes = (try? await decoded(answer).all(limit: smallAnswer)) ?? []
        let fields = (try? BSONValue(wireJSON: bytes, documentDepth: 100))?.documentValue
        let word = fields?["error"]?.stringValue
        let reason = fields?["reason"]?.stringValue
        let words = [word, reason].compactMap { $0 }.joined(separator: ": ")
        return RemoteFailure(
            .status(answer.status), words.isEmpty ? "no reason is given" : words, word: word,
            retryAfter: answer["retry-after"].flatMap { seconds(ofRetryAfter: $0) })
    }

    /// Reads seconds, or a date as HTTP has it.
    private static func seconds(ofRetryAfter text: String) -> Double? {
        if let seconds = Double(text) { return seconds >= 0 ? seconds : nil }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text).map { max(0, $0.timeIntervalSinceNow) }
    }
}

extension ByteStream {
    /// The bytes of gzip data.
    fileprivate func decompressed() throws -> ByteStream {
        let state = Decompression(self, try GzipStream(compressing: false))
        return ByteStream { try await state.next() }
    }

    /// `@unchecked Sendable`: a stream has one reader.
    private final class Decompression: @unchecked Sendable {
        private let source: ByteStream
        private let stream: GzipStream
        private var waiting: ArraySlice<UInt8> = []

        init(_ source: ByteStream, _ stream: GzipStream) {
            self.source = source
            self.stream = stream
        }

        func next() async throws -> [UInt8]? {
            do {
                while true {
                    if let bytes = try stream.pull() { return bytes }
                    if waiting.isEmpty {
                        guard let more = try await source.next() else {
                            guard stream.isAtEnd else {
                                throw RemoteFailure.noAnswer("The answer ends in the middle")
                            }
                            return nil
                        }
                        waiting = more[...]
                    }
                    stream.feed(Array(waiting.prefix(BlobLayout.chunkSize)))
                    waiting = waiting.dropFirst(BlobLayout.chunkSize)
                }
            } catch let error as TansuError where error.isOfAttachment {
                throw RemoteFailure.invalidAnswer("Its answer is no valid gzip: \(error.message)")
            }
        }
    }
}

/// Why a request failed, and whether it may succeed later.
struct RemoteFailure: Error, Sendable {
    enum Kind: Sendable {
        /// There was no answer, or not all of it.
        case noAnswer
        /// The status says that the request failed.
        case status(Int)
        /// The answer is not what the protocol says.
        case invalidAnswer
        /// The server cannot be trusted, or does not speak TLS.
        case untrusted
    }

    let kind: Kind
    /// What went wrong.
    let reason: String
    /// CouchDB's word for the error.
    var word: String?
    /// After how many seconds the server wants to be asked again.
    var retryAfter: Double?
    /// The URL of the database.
    var location = "the server"

    init(_ kind: Kind, _ reason: String, word: String? = nil, retryAfter: Double? = nil) {
        self.kind = kind
        self.reason = reason
        self.word = word
        self.retryAfter = retryAfter
    }

    static func noAnswer(_ reason: String) -> RemoteFailure { RemoteFailure(.noAnswer, reason) }

    static func invalidAnswer(_ reason: String) -> RemoteFailure { RemoteFailure(.invalidAnswer, reason) }

    /// The status; nil when there was none.
    var status: Int? {
        guard case .status(let status) = kind else { return nil }
        return status
    }

    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch kind {
        case .noAnswer: true
        case .status(let status): [408, 425, 429].contains(status) || (status >= 500 && status != 501)
        case .invalidAnswer, .untrusted: false
        }
    }

    /// Whether a status 404 is about the database, not about a document in it.
    var isOfDatabase: Bool {
        ["Database does not exist.", "no_db_file"].contains { reason.hasSuffix($0) }
    }
}

extension SyncError {
    /// The error that ends a replication.
    init(_ failure: RemoteFailure) {
        let location = failure.location
        switch failure.kind {
        case .noAnswer: self.init(.unreachable, "There is no answer from \(location): \(failure.reason)")
        case .untrusted: self.init(.unreachable, "There is no TLS connection to \(location): \(failure.reason)")
        case .invalidAnswer:
            self.init(.invalidAnswer, "\(location) does not answer like CouchDB: \(failure.reason)")
        case .status(let status):
            let code: Code =
                switch status {
                case 401: .unauthorized
                case 403: .forbidden
                case 404: .noSuchDatabase
                case _ where failure.isTransient: .unreachable
                default: .invalidAnswer
                }
            self.init(code, "\(location) answers \(status): \(failure.reason)")
        }
    }

    /// The error of a call of a ``RemoteCollection``, where a status can also be about a document or a query.
    init(remote failure: RemoteFailure) {
        let error = SyncError(failure)
        switch failure.status {
        case 400 where failure.word == "no_usable_index":
            self.init(.noUsableIndex, "\(error); create an index on the sorted paths with ensureIndex")
        case 404 where failure.isOfDatabase:
            self.init(.noSuchDatabase, "\(error); create it with create()")
        case 404: self.init(.notFound, error.message)
        case 409: self.init(.conflict, "\(error); read the document again")
        case 413: self.init(.tooLarge, error.message)
        case _? where error.code == .invalidAnswer: self.init(.refused, error.message)
        default: self = error
        }
    }
}

/// How often and when a failed request is sent again.
///
/// It has no clock and no source of random numbers but those that it is given, so that a simulation can repeat it.
package struct RetryPolicy: Sendable {
    /// The greatest number of times that a request is sent.
    var attempts = 8
    /// The seconds before the second attempt; each later one waits twice as long.
    var firstDelay = 0.25
    /// The greatest number of seconds.
    var maximumDelay = 300.0
    /// Waits for some seconds.
    var sleep: @Sendable (Double) async throws -> Void
    /// A number from 0 up to 1.
    var random: @Sendable () -> Double

    init(
        sleep: @escaping @Sendable (Double) async throws -> Void, random: @escaping @Sendable () -> Double
    ) {
        self.sleep = sleep
        self.random = random
    }

    /// With the clock and the random numbers of the system.
    static var system: RetryPolicy {
        RetryPolicy(
            sleep: { try await Task.sleep(for: .seconds($0)) }, random: { Double.random(in: 0..<1) })
    }

    /// The seconds to wait after some attempts: from half of the delay to the whole of it, so that clients whose
    /// server was away do not all come back at once.
    func delay(after attempts: Int, atLeast minimum: Double? = nil) -> Double {
        var delay = firstDelay
        for _ in 1..<min(max(attempts, 1), 64) where delay < maximumDelay { delay *= 2 }
        delay = min(delay, maximumDelay) * (0.5 + random() / 2)
        // A server that wants more than the greatest delay is asked after it.
        return max(delay, min(minimum ?? 0, maximumDelay))
    }
}
#endif
