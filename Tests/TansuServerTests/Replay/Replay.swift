#if TansuServer
import Foundation
import Testing

/// Sends the requests of a scenario to a server and compares what it answers with what CouchDB answered.
final class Replay {
    private let port: Int
    private(set) var tokens: Tokens
    private(set) var results: [Result] = []

    struct Result: Sendable, CustomStringConvertible {
        var exchange: Exchange
        var differences: [String]
        /// nil: held back, but answered as it must be.
        var isEqual: Bool?

        var description: String {
            let request =
                "\(exchange.method) \(exchange.path.prefix(200)) \("\(exchange.request["b"] ?? .null)".prefix(300))"
            return request + differences.map { "\n      \($0)" }.joined()
        }
    }

    init(port: Int) {
        self.port = port
        tokens = Tokens(port: port)
    }

    func run(_ scenario: String) async {
        for exchange in Exchange.scenario(scenario) {
            let (answer, during) = await send(exchange)
            judge(exchange, answer, during)
        }
    }

    private typealias Answer = Swift.Result<HTTPAnswer, any Error>

    /// The answer and those of the requests that were sent during the wait for it.
    private func send(_ exchange: Exchange) async -> (Answer, [Answer]) {
        do {
            let bytes = try exchange.bytes(replacing: tokens)
            let connection = try HTTPConnection(port: port)
            try connection.send(bytes)
            // A feed's head comes when the feed has begun.
            var answer = try await Self.blocking { try HTTPAnswer(headOf: connection) }
            let method = exchange.method
            let started = answer
            async let whole = Self.blocking {
                var whole = started
                try whole.readBody(of: connection, method: method)
                return whole
            }
            var others: [Answer] = []
            for each in exchange.during { others.append(await send(each).0) }
            answer = try await whole
            return (.success(answer), others)
        } catch {
            return (.failure(error), [])
        }
    }

    private static func blocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    private func judge(_ exchange: Exchange, _ answer: Answer, _ during: [Answer]) {
        for (each, answer) in zip(exchange.during, during) { judge(each, answer, []) }
        switch answer {
        case .failure(let error):
            // Where CouchDB gave no answer, none is needed.
            let isExpected = exchange.answer?["s"]?.int == 0
            results.append(
                Result(exchange: exchange, differences: isExpected ? [] : ["\(error)"], isEqual: isExpected))
        case .success(var answer):
            if answer[header: "content-type"]?.hasPrefix("application/json") == true {
                answer.body = tokens.restored(answer.body)
            }
            var differences = Self.faults(exchange, answer)
            if let expected = exchange.answer {
                var comparison = AnswerComparison(tokens: tokens)
                comparison.compare(exchange, expected, answer)
                tokens = comparison.tokens
                differences += comparison.differences
            }
            let isEqual = differences.isEmpty
            results.append(
                Result(
                    exchange: exchange, differences: differences,
                    isEqual: exchange.answer == nil && isEqual ? nil : isEqual))
        }
    }

    /// What no answer may be, whatever the request.
    static func faults(_ exchange: Exchange, _ answer: HTTPAnswer) -> [String] {
        var faults: [String] = []
        let text = String(decoding: answer.body, as: UTF8.self)
        if answer.status >= 500, answer.status != 501, !text.contains("\"db_not_found\"") {
            faults.append("a fault of the server: \(answer.status) \(text)")
        }
        let isJSON = answer[header: "content-type"]?.hasPrefix("application/json") == true
        let isFeed = exchange.path.contains("feed=")
        if isJSON, exchange.method != "HEAD", answer.status != 304, !isFeed {
            guard let value = JSON(answer.body) else { return faults + ["no JSON: \(text.prefix(2000))"] }
            let isError = value["error"] != nil && value["reason"] != nil
            if answer.status >= 400, !isError { faults.append("status \(answer.status) without an error: \(text)") }
        }
        return faults
    }
}
#endif
