#if TansuSync
import Tansu
import TansuBSON

/// The documents that a server finds, page by page.
struct RemotePages: Sendable {
    private static let firstPage = 100
    /// About how many bytes of documents a page should have, and after how many it is asked for in smaller parts.
    private static let pageBytes = 4 << 20
    private static let largestPageBytes = 64 << 20

    private let connection: RemoteConnection
    private let body: BSONDocument
    private let largestPage: Int
    private var pageSize: Int
    private var bookmark: String?
    /// How many documents came from a server without bookmarks, less those that were removed.
    private var position = 0
    private(set) var isAtEnd = false
    private var lastLimit = 0

    /// An earlier bookmark, and after how many pages a later one replaces it: one that comes again is found, however many
    /// there are between.
    private var knownBookmark = ""
    private var pagesLeft = 1
    private var period = 1

    init(_ connection: RemoteConnection, _ request: RemoteRequest, largestPage: Int) {
        self.connection = connection
        body = request.body
        self.largestPage = largestPage
        pageSize = min(Self.firstPage, largestPage)
        isAtEnd = request.isEmpty
    }

    /// Documents that were found are not there any more.
    mutating func removed(_ count: Int) { position -= count }

    /// The next documents, none at the end.
    ///
    /// - Parameter wanted: How many are enough.
    mutating func next(_ wanted: Int?) async throws -> [BSONDocument] {
        guard !isAtEnd else { return [] }
        // The first page has what is wanted; when that was not enough, pages grow.
        var limit = max(1, min(max(wanted ?? pageSize, lastLimit * 2), pageSize))
        while true {
            try Task.checkCancellation()
            var body = body
            body["limit"] = BSONValue(limit)
            if let bookmark {
                body["bookmark"] = .string(bookmark)
            } else if position > 0 {
                body["skip"] = BSONValue(position)
            }
            let text = RemoteConnection.text(of: body)
            let asked = limit
            let page = try await connection.calling { database in
                try await database.perform("POST", "_find", body: .json(text)) { try await Self.page($0, asked) }
            }
            guard page.isWhole else {
                limit = max(1, limit / 8)
                pageSize = limit
                continue
            }
            try note(page, asked)
            return page.documents
        }
    }

    private mutating func note(_ page: Page, _ limit: Int) throws {
        position += page.documents.count
        lastLimit = limit
        // What was asked for has not come: there is no more.
        isAtEnd = page.documents.count < limit
        if page.bytes > Self.pageBytes {
            pageSize = max(1, limit / 2)
        } else if limit == pageSize, page.bytes < Self.pageBytes / 4 {
            pageSize = min(pageSize * 2, largestPage)
        }
        guard !isAtEnd else { return }
        bookmark = page.bookmark
        guard let bookmark else { return }
        guard bookmark != knownBookmark else {
            throw SyncError(
                RemoteFailure.invalidAnswer(
                    "The bookmark \"\(bookmark)\" of its answer leads back to an earlier page"))
        }
        pagesLeft -= 1
        if pagesLeft == 0 {
            knownBookmark = bookmark
            period *= 2
            pagesLeft = period
        }
    }

    private struct Page: Sendable {
        var documents: [BSONDocument] = []
        var bookmark: String?
        var bytes = 0
        /// Whether all of it was read.
        var isWhole = true
    }

    private struct TooManyBytes: Error {}

    private static func page(_ answer: HTTPAnswer, _ limit: Int) async throws -> Page {
        var page = Page()
        let rest: [UInt8]
        do {
            rest = try await HTTPPeer.elements("docs", of: answer) { element in
                guard page.documents.count < limit else {
                    throw RemoteFailure.invalidAnswer("_find answers more than the \(limit) documents asked for")
                }
                page.bytes += element.count
                guard page.bytes <= largestPageBytes || limit == 1 else { throw TooManyBytes() }
                page.documents.append(try document(element))
            }
        } catch is TooManyBytes { return Page(isWhole: false) }
        let members = try RemoteDatabase.value(rest)
        // Without documents the array was no array.
        guard case .array? = members["docs"] else {
            throw RemoteFailure.invalidAnswer("_find answers no list of documents")
        }
        page.bookmark = members["bookmark"]?.stringValue.flatMap { ["", "nil"].contains($0) ? nil : $0 }
        return page
    }

    /// A document in JSON text.
    static func document(_ text: [UInt8]) throws -> BSONDocument {
        let value: BSONValue
        do { value = try BSONValue(wireJSON: text, documentDepth: 1) } catch {
            throw RemoteFailure.invalidAnswer("A document in its answer cannot be read: \(error)")
        }
        guard case .document(let document) = value else {
            throw RemoteFailure.invalidAnswer("What should be a document in its answer is none")
        }
        return document
    }
}

/// The documents of a query, page by page.
struct RemoteResults<Element: Sendable>: Sendable {
    let request: RemoteRequest
    private let query: RemoteQuery<Element>
    private var pages: RemotePages
    private var toSkip: Int
    /// How many are still wanted; nil for all.
    private var left: Int?
    private let enough: Int?

    /// - Parameters:
    ///   - onlyIDs: Whether only ids and revisions are wanted.
    ///   - enough: How many documents the caller takes, as far as it knows.
    init(_ query: RemoteQuery<Element>, onlyIDs: Bool = false, enough: Int? = nil) throws {
        self.query = query
        self.enough = enough
        request = try RemoteRequest(query, onlyIDs: onlyIDs)
        pages = RemotePages(
            query.collection.connection, request, largestPage: query.collection.options.pageSize)
        toSkip = request.skip
        left = request.limit
    }

    /// Documents of the result were removed.
    mutating func removed(_ count: Int) { pages.removed(count) }

    /// The documents of the next page that match, before the projection; nil at the end.
    mutating func next() async throws -> [BSONDocument]? {
        guard left != 0, !pages.isAtEnd else { return nil }
        var found: [BSONDocument] = []
        let wanted = (left ?? enough).map { $0.addingReportingOverflow(toSkip) }.map {
            $0.overflow ? Int.max : $0.partialValue
        }
        let collection = query.collection
        for document in try await pages.next(wanted) {
            let document = try collection.connection.reading { try collection.received(document) }
            guard try request.matches(document) else { continue }
            if toSkip > 0 {
                toSkip -= 1
            } else if left != 0 {
                found.append(document)
                left = left.map { $0 - 1 }
            }
        }
        return found
    }
}
#endif
