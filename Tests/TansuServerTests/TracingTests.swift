#if TansuServer
import InMemoryTracing
import Tansu
import Testing
import Tracing
@testable import TansuServer

@Suite struct TracingTests {
    @Test("Each request is a span, named by its route, in the trace of its client") @available(macOS 14, *)
    func spans() async throws {
        let tracer = InMemoryTracer()
        var options = ServerOptions(port: 0)
        options.tracer = tracer
        try await RunningServer.run(options: options) { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/people").status == 201)
            let trace = ["in-memory-trace-id": "of-the-client", "in-memory-span-id": "1"]
            #expect(try await server.answer("GET", "/people/nobody", trace).status == 404)
            #expect(try await server.answer("GET", "/people", trace).status == 200)
        }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["PUT /:db", "GET /:db/*", "GET /:db"])
        #expect(spans.map { $0.attributes["http.response.status_code"]?.toSpanAttribute() } == [201, 404, 200])
        // What a client asks wrongly is no error of the server.
        #expect(spans.allSatisfy { $0.errors.isEmpty && $0.kind == .server })
        #expect(spans.last?.spanContext.traceID == "of-the-client")
        #expect(tracer.activeSpans.isEmpty)
    }
}
#endif
