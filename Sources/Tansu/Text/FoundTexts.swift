import TansuBSON

/// Where the texts of a document, those that an index of words has, show why a search found it.
package struct FoundTexts: Sendable {
    /// The best part of a text.
    package struct Place: Sendable {
        /// The dotted path of the text.
        package let path: String
        package let text: String
        package let snippet: TextHighlights.Snippet
    }

    private let search: TextSearch
    private let index: Database.IndexInfo?

    /// - Parameter index: The index of words.
    package init(_ search: TextSearch, index: Database.IndexInfo?) {
        (self.search, self.index) = (search, index)
    }

    /// The best part of each text that has something of the search, in the order of the index.
    ///
    /// - Parameters:
    ///   - document: A document that was found.
    ///   - most: How many places are enough.
    ///   - bytes: How many bytes of texts are looked at.
    package func places(in document: BSONDocument, most: Int = .max, bytes: Int = .max) -> [Place] {
        let language = language(of: document)
        var places: [Place] = []
        var rest = bytes
        for (path, text) in texts(of: document) {
            rest -= text.utf8.count
            guard rest >= 0, places.count < most else { break }
            // What cannot be highlighted, such as a text that is too large, was found all the same.
            let found = try? Database.highlights(
                of: text, for: search, language: language, path: isOfEverything ? nil : path, snippets: 1)
            places += (found?.snippets ?? []).map { Place(path: path, text: text, snippet: $0) }
        }
        return places
    }

    private var isOfEverything: Bool { index?.keys.first.map { $0.path.utf8.elementsEqual("**".utf8) } ?? false }

    /// The texts that the index has, with their paths.
    private func texts(of document: BSONDocument) -> [(String, String)] {
        if isOfEverything { return BSONValue.document(document).allTexts(at: "") }
        return (index?.keys ?? []).flatMap { key in
            BSONValue.document(document).texts(at: key.path.parts(separatedBy: ".")[...]).map { (key.path, $0) }
        }
    }

    /// The language of a document's texts: that which it names, if there is such a language.
    private func language(of document: BSONDocument) -> String? {
        guard let options = index?.text else { return nil }
        let own = options.languageField.flatMap { document[path: $0]?.stringValue }
        if let own, (try? Database.terms(of: "", language: own)) != nil { return own }
        return options.language
    }
}

extension BSONValue {
    /// The texts at a path, also those in arrays.
    fileprivate func texts(at path: ArraySlice<String>) -> [String] {
        switch self {
        case .string(let text): path.isEmpty ? [text] : []
        case .array(let elements): elements.flatMap { $0.texts(at: path) }
        case .document(let document):
            path.first.flatMap { document[$0] }?.texts(at: path.dropFirst()) ?? []
        default: []
        }
    }

    /// All texts below a path, with their paths.
    fileprivate func allTexts(at path: String) -> [(String, String)] {
        switch self {
        case .string(let text): [(path, text)]
        case .array(let elements): elements.flatMap { $0.allTexts(at: path) }
        case .document(let document):
            document.flatMap { $0.value.allTexts(at: path.isEmpty ? $0.key : "\(path).\($0.key)") }
        default: []
        }
    }
}
