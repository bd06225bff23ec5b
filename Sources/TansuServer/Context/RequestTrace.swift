#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import Tracing

/// The span of a request, for programs that trace: from its route to the head of its answer. It continues the trace that the header
/// fields of the request name. Attributes have the names of OpenTelemetry's conventions for HTTP.
struct RequestTrace {
    private let tracer: any Tracer
    private let request: ServerRequest
    private let route: Route

    /// Nil when nobody traces.
    init?(_ request: ServerRequest, _ route: Route) {
        tracer = request.server.options.tracer ?? InstrumentationSystem.tracer
        if tracer is NoOpTracer { return nil }
        (self.request, self.route) = (request, route)
    }

    /// Records what answers the request. What it throws is rendered as an answer later, and is an error of the span if that is an error
    /// of the server.
    func record(_ answer: @Sendable () async throws -> Response) async throws -> Response {
        var context = ServiceContext.topLevel
        tracer.extract(request.head.headerFields, into: &context, using: HeaderExtractor())
        let span = tracer.startSpan("\(request.method.rawValue) \(route.pattern)", context: context, ofKind: .server)
        span.attributes["http.request.method"] = request.method.rawValue
        span.attributes["http.route"] = route.pattern
        defer { span.end() }
        do {
            let response = try await ServiceContext.$current.withValue(span.context) { try await answer() }
            note(response.status, span)
            return response
        } catch {
            // Who answers the request logs what went wrong.
            let status = HTTPFailure(rendering: error, logger: nil).status
            if status.kind == .serverError { span.recordError(error) }
            note(status, span)
            throw error
        }
    }

    private func note(_ status: HTTPResponse.Status, _ span: any Span) {
        span.attributes["http.response.status_code"] = Int64(status.code)
        if status.kind == .serverError { span.setStatus(.init(code: .error)) }
    }
}

/// Reads the header fields by which a trace goes on.
private struct HeaderExtractor: Extractor {
    func extract(key: String, from fields: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { fields[$0] }
    }
}
#endif
