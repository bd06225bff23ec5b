#if TansuSync
    import TansuBSON

    /// CouchDB's query dialect.
    package enum Mango {
        /// An error in a query, as CouchDB names it: the status and the members of the body.
        package struct QueryError: Error, Sendable, Hashable, CustomStringConvertible {
            /// The HTTP status.
            package let status: Int
            /// CouchDB's name of the error, such as `bad_arg`.
            package let name: String
            /// What is wrong.
            package let reason: String

            package init(_ name: String, _ reason: String, status: Int = 400) {
                self.status = status
                self.name = name
                self.reason = reason
            }

            package var description: String { "\(name): \(reason)" }
        }
    }

    extension Mango.QueryError {
        static func badArgument(_ name: String, _ argument: BSONValue) -> Self {
            Self("bad_arg", "Bad argument for operator \(name): \(argument.erlangTerm)")
        }

        /// ICU fails, which no query causes.
        init(_ error: CollationError) {
            self.init("internal_server_error", error.description, status: 500)
        }
    }
#endif
