#if TansuServer
    import Foundation
    import HTTPTypes
    import HummingbirdCore
    import Logging
    import NIOCore
    import TansuBSON

    /// Answers a request from its head to the head of its answer: who makes it, whether other origins may, what its route says,
    /// the fields that all answers have, log and counters.
    struct RequestResponder: Sendable {
        let server: ServerContext
        let router: Router
        private let date = DateField()

        init(server: ServerContext, router: Router) {
            self.server = server
            self.router = router
        }

        func respond(to request: Request, _ channel: any Channel) async -> Response {
            let start = ContinuousClock.now
            var user = UserContext.anonymous
            var response: Response
            do {
                let request = try ServerRequest(
                    server: server, request: request, channel: channel, logger: server.logger)
                response = await answer(request, &user)
            } catch {
                response = Response(HTTPFailure(rendering: error, logger: server.logger))
            }
            response.headers[.date] = date.text
            response.headers[.server] = "Tansu"
            let duration = ContinuousClock.now - start
            server.metrics.record(request.method, response.status, duration)
            log(request, response, user, duration, channel)
            return response
        }

        private func answer(_ request: ServerRequest, _ user: inout UserContext) async -> Response {
            let crossOrigin = CrossOrigin(request)
            if let preflight = crossOrigin?.preflight(request) { return preflight }
            var request = request
            var response: Response
            do {
                try checkHost(request)
                let result = try await server.authenticator.authenticate(request.head.headerFields, from: request.peer)
                user = result.user
                request.user = user
                response = try await router.respond(to: request)
                if let cookie = result.renewedCookie, !response.headers.contains(.setCookie) {
                    response.headers[.setCookie] = request.sessionCookie(cookie)
                }
            } catch {
                response = Response(HTTPFailure(rendering: error, logger: request.logger))
            }
            if request.method == .head {
                let length = response.headers[.contentLength]
                response = Response(status: response.status, headers: response.headers)
                // Of an answer that is streamed to GET the length is not known, so it is not 0.
                response.headers[.contentLength] = length
                // POST that an override made HEAD has a body, which is empty.
                if request.head.method != .head { response.headers[.contentLength] = "0" }
            }
            crossOrigin?.add(to: &response.headers)
            return response
        }

        /// A server that lets everyone in does so only under the names of this machine: a page in a browser can make a name of its
        /// own point to this machine, and would then count as a page of the server.
        private func checkHost(_ request: ServerRequest) throws {
            guard server.authenticator.isOpen, let authority = request.head.authority else { return }
            let host = authority.dropping(prefix: "[")?.prefixUntil("]") ?? authority.prefixUntil(":")
            guard ServerOptions(host: host.asciiLowercased).isLoopback else {
                throw HTTPFailure.forbidden("A server without users answers only to the names of this machine")
            }
        }

        private func log(
            _ request: Request, _ response: Response, _ user: UserContext, _ duration: Duration, _ channel: any Channel
        ) {
            server.logger.info(
                "\(request.method.rawValue) \(request.uri.path) \(response.status.code)",
                metadata: [
                    "peer": "\(channel.remoteAddress?.ipAddress ?? "-")", "user": "\(user.name ?? "-")",
                    "duration": "\(duration)",
                ])
        }
    }

    /// The text of the header field `Date`, which is made once a second.
    final class DateField: Sendable {
        private let current = Locked((second: 0, text: ""))

        var text: String {
            let now = Date()
            let second = Int(now.timeIntervalSince1970)
            return current.withLock { current in
                if current.second != second { current = (second, HTTPDate.text(now)) }
                return current.text
            }
        }
    }
#endif
