#if TansuServer
    import HTTPTypes
    import TansuBSON
    import TansuSync

    /// Which documents a feed shows, and which of their revisions.
    enum ChangesFilter: Sendable {
        case all
        case ids(Set<BytewiseText>)
        case designs
        case selector(Mango.Selector, fields: [Mango.FieldPath]?)

        /// - Parameter body: The JSON object of a POST request; nil of GET.
        static func make(
            _ name: String, _ request: ServerRequest, body: BSONDocument?, _ collection: ReplicatedCollection
        ) async throws -> ChangesFilter {
            switch name {
            case "": return .all
            case "_doc_ids": return .ids(try ids(request, body))
            case "_design": return .designs
            case "_selector": return try selector(body)
            case "_view":
                guard let view = request.query["view"], !view.isEmpty else {
                    throw HTTPFailure.badRequest("`view` filter parameter is not provided.")
                }
                let parts = view.parts(separatedBy: "/", omittingEmpty: true)
                guard parts.count == 2 else {
                    throw HTTPFailure.badRequest("`view` must be of the form `designname/viewname`")
                }
                try await requireFunction(parts[1], in: "views", of: parts[0], collection)
            case _ where name.hasPrefix("_"): throw HTTPFailure.badRequest("unknown builtin filter name")
            default:
                let parts = name.parts(separatedBy: "/", omittingEmpty: true)
                guard parts.count == 2 else {
                    throw HTTPFailure.badRequest("`filter` must be of the form `designname/filtername`")
                }
                try await requireFunction(parts[1], in: "filters", of: parts[0], collection)
            }
            throw HTTPFailure.notImplemented(
                "JavaScript filters are not run; filter with filter=_selector, _doc_ids or _design")
        }

        /// - Throws: ``HTTPFailure`` when the design document does not have the function.
        private static func requireFunction(
            _ name: String, in member: String, of design: String, _ collection: ReplicatedCollection
        ) async throws {
            let fields = try await DesignDocument.fields(of: design, collection)
            guard let functions = fields[member]?.documentValue else {
                throw HTTPFailure.notFound("missing json key: \(member)")
            }
            guard functions[name] != nil else { throw HTTPFailure.notFound("missing json key: \(name)") }
        }

        private static func ids(_ request: ServerRequest, _ body: BSONDocument?) throws -> Set<BytewiseText> {
            let value: BSONValue?
            if let body {
                value = body["doc_ids"]
            } else {
                do {
                    value = try request.query["doc_ids"].map { try BSONValue(plainJSON: $0) }
                } catch {
                    throw HTTPFailure.invalidJSON
                }
            }
            guard case .array(let array)? = value else { throw HTTPFailure.invalidIDs }
            return try Set(
                array.map { element in
                    guard case .string(let id) = element else { throw HTTPFailure.invalidIDs }
                    return BytewiseText(id)
                })
        }

        private static func selector(_ body: BSONDocument?) throws -> ChangesFilter {
            guard let body else { throw HTTPFailure.badRequest("Selector must be specified in POST payload") }
            guard case .document(let condition)? = body["selector"] else {
                throw HTTPFailure.badRequest("Selector error: expected a JSON object")
            }
            do throws(Mango.QueryError) {
                let selector = try Mango.Selector(condition)
                var fields: [Mango.FieldPath]?
                switch body["fields"] {
                case nil, .null: break
                case .array(let array):
                    var paths: [Mango.FieldPath] = []
                    for element in array { paths.append(try Mango.FieldPath(element.stringValue ?? "")) }
                    fields = paths.isEmpty ? nil : paths
                default:
                    return .selector(selector, fields: nil)
                }
                return .selector(selector, fields: fields)
            } catch {
                throw HTTPFailure.badRequest(error.reason)
            }
        }
    }

    extension HTTPFailure {
        fileprivate static var invalidIDs: HTTPFailure {
            .badRequest("`doc_ids` filter parameter is not a list of doc ids.")
        }
    }
#endif
