#if TansuServer
    import TansuBSON

    /// A file of the inspector page. The files are texts in the program: it needs no folder next to it.
    struct InspectorFile: Sendable {
        /// The media types of the files.
        enum Kind: String, Sendable {
            case page = "text/html; charset=utf-8"
            case style = "text/css; charset=utf-8"
            case script = "text/javascript; charset=utf-8"
            case image = "image/svg+xml"
        }

        let name: String
        let kind: Kind
        let text: String
        let entityTag: String

        init(_ name: String, _ kind: Kind, _ text: String) {
            self.name = name
            self.kind = kind
            self.text = text
            entityTag = EntityTag.of(text)
        }

        /// All there are, by the names below `/_utils/`.
        static let all: [BytewiseText: InspectorFile] = {
            let files: [InspectorFile] = [
                indexPage, styleSheet, icon, appScript, apiScript, domScript, jsonScript, sessionScript,
                databasesScript, documentsScript, documentScript, queryScript, indexesScript, changesScript,
                replicationScript,
            ]
            return Dictionary(files.map { (BytewiseText($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        }()
    }
#endif
