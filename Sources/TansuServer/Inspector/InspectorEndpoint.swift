#if TansuServer
import HTTPTypes
import HummingbirdCore
import NIOCore
import TansuBSON

/// `/_utils/`: the inspector, a page that shows databases and documents in a browser, where CouchDB has Fauxton. It holds no data,
/// so that everyone may load it; what it shows comes by the API, with the rights of whoever uses it.
enum InspectorEndpoint {
    static let routes = [
        Route("/_utils", allow: "GET,HEAD", access: .everyone, [.get: .init(nil, page)]),
        Route("/_utils/*", allow: "GET,HEAD", access: .everyone, [.get: .init(nil, file)]),
    ]

    @Sendable private static func page(_ request: ServerRequest) throws -> Response {
        guard request.server.options.hasInspector else { throw HTTPFailure.notFound() }
        guard request.path.raw.hasSuffix("/") else {
            // Relative, so that it is right whatever a proxy calls the server.
            return Response(status: .movedPermanently, headers: [.location: "_utils/", .cacheControl: "no-cache"])
        }
        return answer(.indexPage, request)
    }

    @Sendable private static func file(_ request: ServerRequest) throws -> Response {
        guard request.server.options.hasInspector, request.rest.count == 1,
            let file = InspectorFile.all[BytewiseText(request.rest[0])]
        else { throw HTTPFailure.notFound() }
        return answer(file, request)
    }

    private static func answer(_ file: InspectorFile, _ request: ServerRequest) -> Response {
        var headers = security
        // A browser keeps the files, and asks each time whether they are still those of the server.
        headers[.cacheControl] = "no-cache"
        headers[.eTag] = file.entityTag
        if request.hasCurrent(file.entityTag) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = file.kind.rawValue
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: file.text)))
    }

    /// What keeps documents, whatever is in them, from running as a program with the rights of the user, and other pages from showing
    /// this one as a part of theirs.
    private static let security: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff", .frameOptions: "DENY", .referrerPolicy: "no-referrer",
        .crossOriginOpenerPolicy: "same-origin", .crossOriginResourcePolicy: "same-origin",
    ]
}

/// A file of the inspector page, from the folder `Page`. The files are in the program: it needs no folder next to it.
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

    private init(_ name: String, _ kind: Kind, _ bytes: [UInt8]) {
        self.name = name
        self.kind = kind
        text = String(decoding: bytes, as: UTF8.self)
        entityTag = EntityTag.of(text)
    }

    /// The page, which loads all the others.
    static let indexPage = InspectorFile("index.html", .page, PackageResources.index_html)

    /// All there are, by the names below `/_utils/`.
    static let all: [BytewiseText: InspectorFile] = {
        let files: [InspectorFile] = [
            indexPage,
            InspectorFile("style.css", .style, PackageResources.style_css),
            InspectorFile("icon.svg", .image, PackageResources.icon_svg),
            InspectorFile("app.js", .script, PackageResources.app_js),
            InspectorFile("api.js", .script, PackageResources.api_js),
            InspectorFile("dom.js", .script, PackageResources.dom_js),
            InspectorFile("json.js", .script, PackageResources.json_js),
            InspectorFile("session.js", .script, PackageResources.session_js),
            InspectorFile("databases.js", .script, PackageResources.databases_js),
            InspectorFile("documents.js", .script, PackageResources.documents_js),
            InspectorFile("document.js", .script, PackageResources.document_js),
            InspectorFile("query.js", .script, PackageResources.query_js),
            InspectorFile("search.js", .script, PackageResources.search_js),
            InspectorFile("indexes.js", .script, PackageResources.indexes_js),
            InspectorFile("changes.js", .script, PackageResources.changes_js),
            InspectorFile("replication.js", .script, PackageResources.replication_js),
            InspectorFile("commands.js", .script, PackageResources.commands_js),
            InspectorFile("collections.js", .script, PackageResources.collections_js),
            InspectorFile("pipelines.js", .script, PackageResources.pipelines_js),
            InspectorFile("plan.js", .script, PackageResources.plan_js),
            InspectorFile("tree.js", .script, PackageResources.tree_js),
            InspectorFile("values.js", .script, PackageResources.values_js),
            InspectorFile("slow.js", .script, PackageResources.slow_js),
            InspectorFile("live.js", .script, PackageResources.live_js),
            InspectorFile("editor.js", .script, PackageResources.editor_js),
        ]
        return Dictionary(files.map { (BytewiseText($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    }()
}
#endif
