#if TansuServer
import HTTPTypes
import NIOCore
import NIOHTTP1
import TansuBSON

/// One connection: framing of answers, persistence, `Expect: 100-continue`, timeouts, and answers to what is not HTTP.
///
/// It lies between NIO's HTTP/1 codec and everything else. Requests can be pipelined: ``Exchange`` is one whose answer has
/// not ended.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private struct Exchange {
        let isHead: Bool
        let version: HTTPVersion
        var keepsAlive: Bool
        var isAnswering = false
    }

    /// What the client is expected to do next.
    private enum Phase {
        /// To send a request, or nothing.
        case idle
        /// To send the rest of a head.
        case head
        /// To send the rest of a body.
        case body(received: Int)
        /// To close the connection, after the last answer.
        case lingering
    }

    private let limits: ConnectionLimits
    private let isRefused: Bool
    /// The methods of a path, for the answer to one that the parser does not know.
    private let allowedMethods: @Sendable (String) -> String?
    private var exchanges: [Exchange] = []
    private var phase = Phase.idle
    /// Since when, and for how long before that, the client was waited for in this phase. Nil while it waits for us.
    private var waitingSince: NIODeadline? = NIODeadline.now()
    private var waited = TimeAmount.zero
    private var unwritableSince: NIODeadline?
    /// Answers that have ended, and of which the client has yet to take bytes. Closing the channel would drop these.
    private var unsent = 0
    private var closesWhenSent = false
    private var isQuiescing = false
    private var isInputClosed = false
    private var hasFeed = false
    /// Whether what was written is sent when the event loop has done what it has to do now.
    private var isFlushing = false
    /// What followed the requests that are being answered is not HTTP; it is answered after them.
    private var pendingFailure: HTTPFailure?
    private var context: ChannelHandlerContext?
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// The bytes that arrived last, from which an unknown method is read.
    private var lastBytes = ByteBuffer()

    init(
        limits: ConnectionLimits, isRefused: Bool, allowedMethods: @escaping @Sendable (String) -> String?
    ) {
        self.limits = limits
        self.isRefused = isRefused
        self.allowedMethods = allowedMethods
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        updateTimer()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        self.context = nil
    }

    // MARK: What arrives

    /// - Returns: Whether the bytes are of interest.
    func bytesArrived(_ bytes: ByteBuffer) -> Bool {
        if pendingFailure != nil { return false }
        switch phase {
        case .lingering:
            return false
        case .idle where exchanges.isEmpty:
            enter(.head)
        case .idle, .head, .body:
            break
        }
        lastBytes = bytes
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .lingering = phase { return }
        if pendingFailure != nil { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            let failure: HTTPFailure? =
                isRefused ? .overloaded("Too many connections") : Self.refusal(of: head)
            if failure != nil, !exchanges.isEmpty {
                pendingFailure = failure
                return
            }
            exchanges.append(
                Exchange(isHead: head.method == .HEAD, version: head.version, keepsAlive: Self.keepsAlive(head)))
            enter(.body(received: 0))
            if let failure { return answer(context, failure) }
            if expectsContinue(head), exchanges.count == 1 {
                let interim = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
            }
        case .body(let bytes):
            if case .body(let received) = phase { phase = .body(received: received + bytes.readableBytes) }
            pauseWaiting()
        case .end:
            enter(.idle)
        }
        context.fireChannelRead(data)
    }

    /// Whether another request may follow. Not after one for a tunnel or another protocol: the parser ends there.
    private static func keepsAlive(_ head: HTTPRequestHead) -> Bool {
        head.version == .http1_1 && !head.headers.hasToken("close", in: "connection") && head.method != .CONNECT
            && !(head.headers.hasToken("upgrade", in: "connection") && head.headers.contains(name: "upgrade"))
    }

    /// Why a request is answered by no endpoint: it does not say where its body ends, or which server it is for, so that this
    /// server and one before it may take it for different requests.
    private static func refusal(of head: HTTPRequestHead) -> HTTPFailure? {
        let hosts = head.headers["host"].count
        guard hosts == 1 || (hosts == 0 && head.version != .http1_1) else {
            return .badRequest("The request has \(hosts == 0 ? "no Host header" : "more than one Host header")")
        }
        let codings = head.headers[canonicalForm: "transfer-encoding"].map { String($0).asciiLowercased }
        guard codings.isEmpty || codings == ["chunked"] else {
            return .notImplemented("The only transfer encoding is chunked")
        }
        return nil
    }

    private func expectsContinue(_ head: HTTPRequestHead) -> Bool {
        guard head.version == .http1_1, head.headers.hasToken("100-continue", in: "expect") else { return false }
        // Without the interim answer the client does not send what would be refused.
        return head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0 <= limits.requestBytes
    }

    /// Reading is wanted: from now on the client is waited for.
    func read(context: ChannelHandlerContext) {
        if waitingSince == nil {
            waitingSince = .now()
            updateTimer()
        }
        context.read()
    }

    private func pauseWaiting() {
        if let since = waitingSince { waited = waited + (.now() - since) }
        waitingSince = nil
    }

    private func enter(_ phase: Phase) {
        self.phase = phase
        waited = .zero
        waitingSince = .now()
        updateTimer()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            if exchanges.isEmpty { closeWhenSent(context) }
        case ChannelEvent.inputClosed:
            isInputClosed = true
            if case .lingering = phase { return closeWhenSent(context) }
            if hasFeed { return context.close(promise: nil) }
            context.fireUserInboundEventTriggered(event)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .body = phase { cutBody(context) }
        context.fireChannelInactive()
    }

    /// The client has gone within a body.
    private func cutBody(_ context: ChannelHandlerContext) {
        let failure = HTTPFailure.badRequest("The connection ended before the body of the request did")
        if context.channel.isActive, exchanges.count == 1, !exchanges[0].isAnswering { return answer(context, failure) }
        // What is answered before it goes on.
        phase = .idle
        context.fireErrorCaught(failure)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is FeedOpened else { return context.triggerUserOutboundEvent(event, promise: promise) }
        hasFeed = true
        promise?.succeed(())
        if isInputClosed { context.close(promise: nil) }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .lingering = phase {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code >= 200:
            context.write(wrapOutboundOut(.head(framed(head))), promise: promise)
        case .body where exchanges.first?.isHead == true:
            promise?.succeed(())
        case .end(let trailers):
            writeEnd(context, trailers, promise)
            endExchange(context)
        case .head, .body:
            context.write(data, promise: promise)
        }
    }

    /// The head with the fields that say where its body ends, and whether the connection goes on.
    private func framed(_ head: HTTPResponseHead) -> HTTPResponseHead {
        guard var exchange = exchanges.first else { return head }
        var head = head
        head.version = exchange.version
        head.headers.remove(name: "transfer-encoding")
        let hasBody = !exchange.isHead && head.status.code != 204 && head.status.code != 304
        if hasBody, !head.headers.contains(name: "content-length") {
            if exchange.version == .http1_1 {
                head.headers.add(name: "transfer-encoding", value: "chunked")
            } else {
                exchange.keepsAlive = false
            }
        }
        // What is left of the body of a refused request is not worth reading.
        if isQuiescing || (isReadingFirst && head.status.code >= 400) { exchange.keepsAlive = false }
        if !exchange.keepsAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        exchange.isAnswering = true
        exchanges[0] = exchange
        return head
    }

    /// Whether the request that is answered next has not arrived as a whole.
    private var isReadingFirst: Bool {
        if case .body = phase, exchanges.count == 1 { true } else { false }
    }

    private func writeEnd(
        _ context: ChannelHandlerContext, _ trailers: HTTPHeaders?, _ promise: EventLoopPromise<Void>?
    ) {
        unsent += 1
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.answerWasSent() }
        if let promise { sent.futureResult.cascade(to: promise) }
        context.write(wrapOutboundOut(.end(trailers)), promise: sent)
    }

    private func answerWasSent() {
        unsent -= 1
        guard unsent == 0, let context else { return }
        switch phase {
        case _ where closesWhenSent: context.close(promise: nil)
        case .idle where exchanges.isEmpty: enter(.idle)
        case .lingering: enter(.lingering)
        case .idle, .head, .body: break
        }
    }

    /// What is written in one go is sent in one go: an answer in several parts is not several packets.
    func flush(context: ChannelHandlerContext) {
        guard !isFlushing else { return }
        isFlushing = true
        context.eventLoop.assumeIsolated().execute { [weak self] in
            self?.isFlushing = false
            self?.context?.flush()
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // What was written before the end is sent, such as the beginning of an answer that failed.
        if isFlushing { context.flush() }
        context.close(mode: mode, promise: promise)
    }

    private func closeWhenSent(_ context: ChannelHandlerContext) {
        guard unsent > 0 else { return context.close(promise: nil) }
        closesWhenSent = true
    }

    private func endExchange(_ context: ChannelHandlerContext) {
        guard !exchanges.isEmpty else { return }
        let exchange = exchanges.removeFirst()
        hasFeed = false
        context.flush()
        if !exchange.keepsAlive || isQuiescing {
            finish(context)
        } else if exchanges.isEmpty, let pendingFailure {
            answer(context, pendingFailure)
        } else if exchanges.isEmpty, case .idle = phase {
            enter(.idle)
        }
    }

    /// Ends the connection after what was written. A client that is still sending would lose the answer if the connection
    /// were closed at once, so only our half of it is closed, and what arrives is dropped for a while.
    private func finish(_ context: ChannelHandlerContext) {
        let isReading = if case .idle = phase { false } else { true }
        enter(.lingering)
        context.flush()
        if isReading, !isInputClosed {
            context.close(mode: .output, promise: nil)
        } else {
            closeWhenSent(context)
        }
    }

    /// Answers instead of an endpoint, and ends the connection.
    private func answer(_ context: ChannelHandlerContext, _ failure: HTTPFailure) {
        guard exchanges.first?.isAnswering != true, exchanges.count <= 1 else { return context.close(promise: nil) }
        // First: who reads a body would take the end of the connection for its end.
        context.fireErrorCaught(failure)
        if exchanges.isEmpty { exchanges.append(Exchange(isHead: false, version: .http1_1, keepsAlive: false)) }
        exchanges[0].keepsAlive = false
        let text = failure.jsonText
        var headers = HTTPHeaders(HTTPFields.json.merging(failure.headers))
        headers.add(name: "content-length", value: String(text.utf8.count))
        let head = HTTPResponseHead(
            version: .http1_1, status: .init(statusCode: failure.status.code), headers: headers)
        context.write(wrapOutboundOut(.head(framed(head))), promise: nil)
        if !exchanges[0].isHead {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        }
        writeEnd(context, nil, nil)
        exchanges.removeAll()
        finish(context)
    }

    // MARK: What is not HTTP

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        if case .lingering = phase { return }
        let failure: HTTPFailure
        switch error {
        case .headerOverflow:
            failure = HTTPFailure(
                .requestHeaderFieldsTooLarge, "header_too_large", "The request's head is too large")
        case .invalidEOFState:
            if case .body = phase { return cutBody(context) }
            return context.close(promise: nil)
        case .invalidMethod:
            failure = .unknownMethod(in: lastBytes, allow: allowedMethods)
        default:
            failure = .badRequest("The request is not valid HTTP")
        }
        if case .body = phase { return answer(context, failure) }
        if exchanges.isEmpty { answer(context, failure) } else { pendingFailure = failure }
    }

    // MARK: Time

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        unwritableSince = context.channel.isWritable ? nil : .now()
        updateTimer()
        context.fireChannelWritabilityChanged()
    }

    /// When the client will have been too slow.
    private var deadline: NIODeadline? {
        let unwritable = unwritableSince.map { $0 + limits.idleTimeout }
        guard let since = waitingSince else { return unwritable }
        let reading: NIODeadline?
        switch phase {
        case .idle: reading = exchanges.isEmpty && unsent == 0 ? since + limits.idleTimeout : nil
        case .head: reading = since + limits.readTimeout
        case .body(let received): reading = since + (limits.bodyTime(received: received) - waited)
        case .lingering: reading = unsent == 0 ? since + limits.lingerTime : nil
        }
        return [reading, unwritable].compactMap { $0 }.min()
    }

    private func updateTimer() {
        guard let context, let deadline else { return }
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let task: Scheduled<Void> = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            [weak self] in
            self?.timerFired()
        }
        timer = (deadline, task)
    }

    private func timerFired() {
        timer = nil
        guard let context, let deadline else { return }
        guard deadline <= .now() else { return updateTimer() }
        switch phase {
        case .head, .body:
            guard unwritableSince == nil else { return context.close(promise: nil) }
            answer(context, HTTPFailure(.requestTimeout, "timeout", "The request did not arrive in time"))
        case .idle, .lingering:
            context.close(promise: nil)
        }
    }
}

extension HTTPHeaders {
    fileprivate func hasToken(_ token: String, in name: String) -> Bool {
        self[canonicalForm: name].contains { String($0).asciiLowercased == token }
    }
}

/// Reports bytes to the connection handler before they are decoded, so that it knows of a head that comes slowly.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if connection.bytesArrived(unwrapInboundIn(data)) { context.fireChannelRead(data) }
    }
}

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
