#if TansuSync
    import TansuBSON

    /// CouchDB's order of JSON values, which its views and its Mango queries have.
    ///
    /// null < false < true < numbers < text < arrays < objects. Numbers are compared by their exact values, text by ICU's
    /// root collation, arrays element by element, objects member by member in their stored order: key, then value. A type
    /// that JSON lacks has the position of ``TansuBSON/BSONValue/jsonForm``.
    ///
    /// For example:
    /// ```swift
    /// let collation = try Collation.shared()
    /// try collation.order("a", "B")  // .before
    /// ```
    package struct Collation: Sendable {
        /// The order of two values.
        package enum Order: Int, Sendable, Hashable {
            case before = -1
            case same = 0
            case after = 1

            init<Value: Comparable>(_ a: Value, _ b: Value) {
                self = a < b ? .before : (a > b ? .after : .same)
            }

            /// Of a number that is less than, equal to or greater than 0.
            init(_ number: Int32) { self.init(number, 0) }

            package var reversed: Order { self == .same ? .same : (self == .before ? .after : .before) }
        }

        let text: TextCollator

        private static let opened: Result<Collation, CollationError> = {
            do throws(CollationError) { return .success(Collation(text: try TextCollator())) } catch {
                return .failure(error)
            }
        }()

        /// The collation, opened once in a process. Every thread can use it.
        package static func shared() throws(CollationError) -> Collation { try opened.get() }

        private init(text: TextCollator) { self.text = text }

        /// The order of two values.
        package func order(_ a: BSONValue, _ b: BSONValue) throws(CollationError) -> Order {
            if case .string(let x) = a, case .string(let y) = b { return try text.order(x, y) }
            if let x = JSONNumber(a), let y = JSONNumber(b) { return x.order(y) }
            let a = a.jsonForm
            let b = b.jsonForm
            switch (a, b) {
            case (.array(let x), .array(let y)): return try order(x, y)
            case (.document(let x), .document(let y)): return try order(x, y)
            default: return Order(Self.rank(a), Self.rank(b))
            }
        }

        /// The order of two texts.
        package func order(_ a: String, _ b: String) throws(CollationError) -> Order { try text.order(a, b) }

        private func order(_ a: BSONArray, _ b: BSONArray) throws(CollationError) -> Order {
            var rest = b.makeIterator()
            for x in a {
                guard let y = rest.next() else { return .after }
                let order = try order(x, y)
                if order != .same { return order }
            }
            return rest.next() == nil ? .same : .before
        }

        private func order(_ a: BSONDocument, _ b: BSONDocument) throws(CollationError) -> Order {
            var rest = b.makeIterator()
            for (key, x) in a {
                guard let (otherKey, y) = rest.next() else { return .after }
                let keys = try text.order(key, otherKey)
                if keys != .same { return keys }
                let values = try order(x, y)
                if values != .same { return values }
            }
            return rest.next() == nil ? .same : .before
        }

        /// The position of a value's type. Two values of one rank that get here are equal.
        private static func rank(_ value: BSONValue) -> Int {
            switch value {
            case .null: 0
            case .bool(false): 1
            case .bool(true): 2
            case .string: 4
            case .array: 5
            case .document: 6
            default: 3
            }
        }
    }
#endif
