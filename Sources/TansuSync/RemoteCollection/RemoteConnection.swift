#if TansuSync
    import Tansu
    import TansuBSON

    /// The requests of a remote collection, with their errors as callers get them.
    struct RemoteConnection: Sendable {
        let database: RemoteDatabase

        /// Calls a closure that makes requests.
        func calling<Result>(_ body: (RemoteDatabase) async throws -> Result) async throws -> Result {
            try Task.checkCancellation()
            do { return try await body(database) } catch let failure as RemoteFailure {
                throw RemoteError(failure)
            } catch let error as ReplicationError { throw RemoteError(error) }
        }

        /// Reads what has come.
        func reading<Result>(_ body: () throws -> Result) throws -> Result {
            do { return try body() } catch var failure as RemoteFailure {
                failure.location = database.url.text
                throw RemoteError(failure)
            }
        }

        /// Sends a request with a JSON body, and reads the JSON that answers it.
        ///
        /// - Parameters:
        ///   - accepted: The statuses other than 2xx that are no errors.
        ///   - documentDepth: How deep in the answer a document is: 1 for a document itself.
        func json(
            _ method: String, _ path: String, query: [(String, String)] = [], body: BSONDocument? = nil,
            accepted: Set<Int> = [], documentDepth: Int = 1
        ) async throws -> RemoteAnswer {
            let bytes = body.map { Self.text(of: $0) }
            return try await calling { database in
                // An answer that is lost leaves open whether the server did what was asked.
                var attempts = 0
                return try await database.retrying {
                    attempts += 1
                    let answer = try await database.send(
                        method, path, query: query, body: bytes.map { .json($0) } ?? .none)
                    let value: BSONValue
                    if 200..<300 ~= answer.status {
                        let text = try await RemoteDatabase.decoded(answer).all(limit: RemoteDatabase.elementLimit)
                        value = text.isEmpty ? .null : try Self.value(text, documentDepth)
                    } else {
                        let failure = try await RemoteDatabase.failure(answer)
                        guard accepted.contains(answer.status), !failure.isOfDatabase else { throw failure }
                        value = .document([
                            "error": .string(failure.word ?? ""), "reason": .string(failure.reason),
                        ])
                    }
                    return RemoteAnswer(
                        status: answer.status, value: value, isRepeated: attempts > 1)
                }
            }
        }

        /// JSON text of a document, with extended JSON for the types that JSON lacks.
        static func text(of document: BSONDocument) -> [UInt8] {
            var writer = WireJSONWriter(capacity: document.bytes.count + 64)
            writer.value(.document(document))
            return writer.finish()
        }

        private static func value(_ text: [UInt8], _ documentDepth: Int) throws -> BSONValue {
            do { return try BSONValue(wireJSON: text, documentDepth: documentDepth) } catch {
                throw RemoteFailure.invalidAnswer("Its answer is no JSON: \(error)")
            }
        }
    }

    /// What a server answers.
    struct RemoteAnswer: Sendable {
        let status: Int
        let value: BSONValue
        /// Whether an earlier attempt, whose answer was lost, may have done what was asked.
        let isRepeated: Bool
        subscript(name: String) -> BSONValue? { value[name] }
    }
#endif
