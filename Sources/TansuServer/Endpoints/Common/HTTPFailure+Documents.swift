#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    extension HTTPFailure {
        /// What a client sent cannot be taken.
        init(_ error: WireError) {
            let status: HTTPResponse.Status = error.code == .notImplemented ? .expectationFailed : .badRequest
            self.init(status, error.code.rawValue, error.reason)
        }

        /// A query cannot be answered.
        init(_ error: Mango.QueryError) {
            self.init(HTTPResponse.Status(code: error.status), error.name, error.reason)
        }

        /// A document cannot be saved.
        init(_ error: DocumentError, _ id: String) {
            switch error {
            case .conflict: self = .conflict()
            case .refused(let reason): self = .forbidden(reason)
            case .missingStub(let name):
                self.init(
                    .preconditionFailed, "missing_stub", "Invalid attachment stub in \(id) for \(name)")
            }
        }

        /// The revision does not exist or no more.
        static var revisionMissing: HTTPFailure { HTTPFailure(.conflict, "not_found", "missing_rev") }

        /// The document is a tombstone.
        static var deleted: HTTPFailure { .notFound("deleted") }
    }

    extension Route {
        /// This, with errors of reading and storing documents as answers.
        var answeringErrors: Route {
            Route(
                pattern, allow: allow, access: access,
                methods.mapValues { method in
                    Endpoint(method.access) { try await HTTPFailure.answering(method.handler, $0) }
                })
        }
    }

    extension HTTPFailure {
        fileprivate static func answering(_ handler: Route.Handler, _ request: ServerRequest) async throws -> Response {
            do {
                try request.checkWholeDatabase()
                return try await handler(request)
            } catch let error as WireError {
                throw HTTPFailure(error)
            } catch let error as Mango.QueryError {
                throw HTTPFailure(error)
            } catch let error as ReplicationError where error.code == .notReplicated {
                throw HTTPFailure.databaseDoesNotExist
            } catch let error as ReplicationError where error.code != .corrupt {
                throw HTTPFailure(.badRequest, "not_replicable", error.description)
            }
        }
    }
#endif
