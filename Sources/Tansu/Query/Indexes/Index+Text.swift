import TansuBSON

extension Database {
    /// What an index of words has beside its paths.
    public struct TextIndexOptions: Sendable, Hashable {
        /// How much paths count for scores, 1 to 1000; 1 for those that are not here.
        public var weights: [String: Int]

        /// The language of the texts, for stems: a code of ISO 639 ("en") or a name of Snowball ("english"); "none" leaves words
        /// as they are.
        public var language: String

        /// The dotted path where a document names the language of its own; `nil` when documents do not.
        public var languageField: String?

        /// Whether it has the positions of words, by which it finds phrases. Without them it is smaller, and documents are
        /// read to find phrases.
        public var keepsPositions: Bool

        /// The options of an index of words.
        public init(
            weights: [String: Int] = [:], language: String = "none", languageField: String? = nil,
            keepsPositions: Bool = true
        ) {
            (self.weights, self.language) = (weights, language)
            (self.languageField, self.keepsPositions) = (languageField, keepsPositions)
        }

        /// Those in the engine's description of an index.
        init(_ document: BSONDocument) {
            let weights = document["weights"]?.documentValue?.compactMap { path, weight in
                weight.intValue.map { (path, $0) }
            }
            self.init(
                weights: Dictionary(weights ?? []) { $1 }, language: document["language"]?.stringValue ?? "none",
                languageField: document["languageField"]?.stringValue,
                keepsPositions: document["positions"]?.boolValue ?? true)
        }

        /// The options as the engine takes them.
        package var document: BSONDocument {
            var document: BSONDocument = [:]
            if !weights.isEmpty {
                let sorted = weights.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                document["weights"] = .document(BSONDocument(sorted.map { ($0.key, BSONValue($0.value)) }))
            }
            if language != "none" { document["language"] = .string(language) }
            if let languageField { document["languageField"] = .string(languageField) }
            if !keepsPositions { document["positions"] = false }
            return document
        }
    }
}

extension Database.Index {
    /// An index of words, for ``Database/Collection/search(_:)``. A collection has at most one.
    ///
    /// For example:
    ///
    /// ```swift
    /// let articles = try db.collection(
    ///     "articles", of: Article.self,
    ///     indexes: [.text(on: \.title, \.body, weights: [\.title: 3], language: "en")])
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - keyPath: A property with texts, which may be in an array.
    ///   - keyPaths: More properties.
    ///   - weights: How much properties count for scores, 1 to 1000; 1 for those that are not here.
    ///   - language: The language of the texts, for stems: "en"; "none" leaves words as they are.
    ///   - languageField: The property where a document names the language of its own.
    ///   - keepsPositions: Whether it has the positions of words, by which it finds phrases without reading documents.
    ///   - condition: Only documents that match have words in it; all when `nil`.
    public static func text<First, each Value>(
        _ name: String? = nil, on keyPath: KeyPath<Element, First>, _ keyPaths: repeat KeyPath<Element, each Value>,
        weights: [PartialKeyPath<Element>: Int] = [:], language: String = "none",
        languageField: PartialKeyPath<Element>? = nil, keepsPositions: Bool = true,
        where condition: (@Sendable (Database.Field<Element>) -> Database.Condition)? = nil
    ) -> Self {
        var paths: [PartialKeyPath<Element>] = [keyPath]
        for keyPath in repeat each keyPaths { paths.append(keyPath) }
        let keys = Result(catchingTansuError: { try paths.map { Database.IndexKey(try $0.storedPath()) } })
        let options = Result(catchingTansuError: {
            Database.TextIndexOptions(
                weights: Dictionary(try weights.map { (try $0.key.storedPath(), $0.value) }) { $1 }, language: language,
                languageField: try languageField?.storedPath(), keepsPositions: keepsPositions)
        })
        return Self(
            name, unique: false, sparse: false, caseInsensitive: false, maxEntries: nil, isByText: false, text: options,
            paths: { _ in try keys.get() },
            filter: { collection in try condition.map { try collection.find($0).filter } })
    }

    /// An index of words over dotted paths, or over all texts of a document.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - paths: The dotted paths of texts, which may be in arrays. Those of all texts when empty: they are one field to a
    ///     search.
    ///   - options: Weights, language and the like.
    ///   - partialFilter: A query as for `ensureIndex`: other documents have no words in it.
    public static func text(
        _ name: String? = nil, onPaths paths: [String], options: Database.TextIndexOptions = .init(),
        partialFilter: BSONDocument? = nil
    ) -> Self {
        let keys = (paths.isEmpty ? ["**"] : paths).map { Database.IndexKey($0) }
        return Self(
            name, unique: false, sparse: false, caseInsensitive: false, maxEntries: nil, isByText: true,
            text: .success(options), paths: { _ in keys },
            filter: { collection in try partialFilter.map { try collection.stored($0, [:]).0 } })
    }
}

extension Database.Collection {
    /// Creates an index of words, for ``search(_:)``, unless it exists. A collection has at most one.
    ///
    /// For example:
    ///
    /// ```swift
    /// try articles.ensureTextIndex(on: \.title, \.body, weights: [\.title: 3], language: "en")
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - keyPath: A property with texts, which may be in an array.
    ///   - keyPaths: More properties.
    ///   - weights: How much properties count for scores, 1 to 1000; 1 for those that are not here.
    ///   - language: The language of the texts, for stems: "en"; "none" leaves words as they are.
    ///   - languageField: The property where a document names the language of its own.
    ///   - keepsPositions: Whether it has the positions of words, by which it finds phrases without reading documents.
    ///   - condition: Only documents that match have words in it; all when `nil`.
    /// - Throws: As `ensureIndex`, and ``TansuError`` with `.unsupported`: a language in an engine without libstemmer.
    public func ensureTextIndex<First, each Value>(
        _ name: String? = nil, on keyPath: KeyPath<Element, First>, _ keyPaths: repeat KeyPath<Element, each Value>,
        weights: [PartialKeyPath<Element>: Int] = [:], language: String = "none",
        languageField: PartialKeyPath<Element>? = nil, keepsPositions: Bool = true,
        where condition: (@Sendable (Database.Field<Element>) -> Database.Condition)? = nil
    ) throws {
        let index = Database.Index<Element>.text(
            name, on: keyPath, repeat each keyPaths, weights: weights, language: language,
            languageField: languageField, keepsPositions: keepsPositions, where: condition)
        try ensure(index.definition(in: self), declares: false)
    }

    /// Creates an index of words over dotted paths, or over all texts of a document, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - paths: The dotted paths of texts, which may be in arrays. Those of all texts when empty: they are one field to a
    ///     search.
    ///   - options: Weights, language and the like.
    ///   - partialFilter: A query as for `ensureIndex`: other documents have no words in it.
    ///   - progress: Called on this thread with the number of documents read. An error that it throws ends the build
    ///     and is rethrown; no index is created. It may use the database but not close it.
    /// - Throws: As `ensureIndex`, and ``TansuError`` with `.unsupported`: a language in an engine without libstemmer.
    public func ensureTextIndex(
        _ name: String? = nil, onPaths paths: [String], options: Database.TextIndexOptions = .init(),
        partialFilter: BSONDocument? = nil, progress: (Database.Progress) throws -> Void = { _ in }
    ) throws {
        let index = Database.Index<Element>.text(name, onPaths: paths, options: options, partialFilter: partialFilter)
        try ensure(index.definition(in: self), declares: false, progress: progress)
    }

    /// Creates an index of words unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - keyPath: A property with texts, which may be in an array.
    ///   - keyPaths: More properties.
    ///   - weights: How much properties count for scores, 1 to 1000; 1 for those that are not here.
    ///   - language: The language of the texts, for stems: "en"; "none" leaves words as they are.
    ///   - languageField: The property where a document names the language of its own.
    ///   - keepsPositions: Whether it has the positions of words, by which it finds phrases without reading documents.
    ///   - condition: Only documents that match have words in it; all when `nil`.
    ///   - isolation: The actor on which the closure runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureTextIndex<First, each Value>(
        _ name: String? = nil, on keyPath: KeyPath<Element, First>, _ keyPaths: repeat KeyPath<Element, each Value>,
        weights: [PartialKeyPath<Element>: Int] = [:], language: String = "none",
        languageField: PartialKeyPath<Element>? = nil, keepsPositions: Bool = true,
        where condition: (@Sendable (Database.Field<Element>) -> Database.Condition)? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        let index = Database.Index<Element>.text(
            name, on: keyPath, repeat each keyPaths, weights: weights, language: language,
            languageField: languageField, keepsPositions: keepsPositions, where: condition)
        let definition = try index.definition(in: self)
        try await session.run(.write) { flag in
            try self.ensure(definition, declares: false) { _ in try flag.check() }
        }
    }

    /// Creates an index of words over dotted paths, or over all texts of a document, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - paths: The dotted paths of texts, which may be in arrays. Those of all texts when empty: they are one field to a
    ///     search.
    ///   - options: Weights, language and the like.
    ///   - partialFilter: A query as for `ensureIndex`: other documents have no words in it.
    ///   - progress: Called on a thread of the database with the number of documents read. An error that it throws
    ///     ends the build, as a cancelled task does.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureTextIndex(
        _ name: String? = nil, onPaths paths: [String], options: Database.TextIndexOptions = .init(),
        partialFilter: BSONDocument? = nil, progress: @escaping @Sendable (Database.Progress) throws -> Void = { _ in }
    ) async throws {
        try await session.run(.write) { flag in
            try self.ensureTextIndex(name, onPaths: paths, options: options, partialFilter: partialFilter) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
