#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON

    /// The header fields that let pages of other origins use the server.
    struct CrossOrigin: Sendable {
        let options: CrossOriginOptions
        let origin: String

        /// Nil when the request is of no other origin, or of one that is refused.
        init?(_ request: ServerRequest) {
            guard let options = request.server.settings.cors, let origin = request[.origin],
                options.origins.contains("*") || options.origins.contains(origin)
            else { return nil }
            self.options = options
            self.origin = origin
        }

        /// The answer to a browser that asks whether it may make a request; nil when it did not ask so, or may not.
        func preflight(_ request: ServerRequest) -> Response? {
            guard request.method == .options, let method = request[.accessControlRequestMethod],
                options.methods.contains(method)
            else { return nil }
            let headers = request[.accessControlRequestHeaders] ?? ""
            let names = headers.parts(separatedBy: ",", omittingEmpty: true).map { $0.trimmingSpaces.asciiLowercased }
            let allowed = options.headers.map { $0.asciiLowercased }
            guard names.allSatisfy({ allowed.contains($0) }) else { return nil }
            var fields = HTTPFields()
            addOrigin(&fields)
            fields[.accessControlAllowMethods] = options.methods.joined(separator: ", ")
            if !headers.isEmpty { fields[.accessControlAllowHeaders] = headers }
            fields[.accessControlMaxAge] = "600"
            return Response(status: .noContent, headers: fields)
        }

        /// Adds what lets the page read an answer.
        func add(to fields: inout HTTPFields) {
            addOrigin(&fields)
            let present = [HTTPField.Name.contentType, .cacheControl].filter { fields.contains($0) }
                .map(\.canonicalName)
            let others = [
                "accept-ranges", "etag", "server", "x-couch-request-id", "x-couch-update-newrev", "x-couchdb-body-time",
            ]
            fields[.accessControlExposeHeaders] = (present + others).joined(separator: ", ")
        }

        private func addOrigin(_ fields: inout HTTPFields) {
            fields[.accessControlAllowOrigin] = origin
            // A cache must not give the answer to another origin.
            fields[.vary] = "Origin"
            if options.allowsCredentials { fields[.accessControlAllowCredentials] = "true" }
        }
    }
#endif
