#if TansuServer
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import TansuBSON

extension HTTPFields {
    /// What CouchDB says in all its JSON answers.
    static var json: HTTPFields {
        [.contentType: "application/json", .cacheControl: "must-revalidate"]
    }

    /// These fields, and those of `others` instead of those of the same name.
    func merging(_ others: HTTPFields) -> HTTPFields {
        var merged = self
        for name in Set(others.map(\.name)) { merged[fields: name] = others[fields: name] }
        return merged
    }
}

extension Response {
    /// A JSON answer. A line feed follows the text, as in CouchDB.
    static func json(
        _ value: BSONValue, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        .json(text: value.wireJSON, status: status, headers: headers)
    }

    /// A JSON answer whose text exists already.
    static func json(
        text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(text.utf8.count + 1)
        buffer.writeString(text)
        buffer.writeInteger(UInt8(ascii: "\n"))
        return .json(buffer: buffer, status: status, headers: headers)
    }

    /// A JSON answer whose bytes exist already; nothing is added.
    static func json(
        buffer: ByteBuffer, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        let headers = HTTPFields.json.merging(headers)
        guard buffer.readableBytes > AnswerStream.pieceSize else {
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: buffer))
        }
        return .streamed(status: status, headers: headers, length: buffer.readableBytes) { stream in
            try await stream.write(buffer)
        }
    }

    /// `{"ok":true}`
    static func ok(_ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        .json(text: #"{"ok":true}"#, status: status, headers: headers)
    }

    /// An error as CouchDB renders it.
    init(_ failure: HTTPFailure) {
        self = .json(buffer: ByteBuffer(string: failure.jsonText), status: failure.status, headers: failure.headers)
    }

    /// An answer in parts, of unknown length (chunked in HTTP/1.1). The client's speed limits the speed of `write`:
    /// ``AnswerStream`` waits while the client does not read.
    ///
    /// What `write` throws ends the connection without the end of the body, so that the client sees that it is not whole.
    static func streamed(
        status: HTTPResponse.Status = .ok, headers: HTTPFields = .json, length: Int? = nil,
        _ write: @escaping @Sendable (inout AnswerStream) async throws -> Void
    ) -> Response {
        let body = ResponseBody(contentLength: length) { writer in
            var stream = AnswerStream(writer, length: length)
            try await write(&stream)
            try await stream.finish()
        }
        return Response(status: status, headers: headers, body: body)
    }
}

/// Dates in header fields.
enum HTTPDate {
    /// As in `Date`: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(_ date: Date) -> String { text(date, separator: " ") }

    /// As in cookies: `Sun, 06-Nov-1994 08:49:37 GMT`.
    static func cookieText(_ date: Date) -> String { text(date, separator: "-") }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static func text(_ date: Date, separator: String) -> String {
        let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
        func two(_ number: Int?) -> String {
            let text = String(number ?? 0)
            return text.utf8.count < 2 ? "0" + text : text
        }
        let day = [two(parts.day), months[(parts.month ?? 1) - 1], String(parts.year ?? 0)].joined(
            separator: separator)
        let time = [two(parts.hour), two(parts.minute), two(parts.second)].joined(separator: ":")
        return "\(days[(parts.weekday ?? 1) - 1]), \(day) \(time) GMT"
    }
}
#endif
