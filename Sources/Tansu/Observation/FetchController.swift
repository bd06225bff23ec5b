#if canImport(Observation)
public import Observation

extension Database {
    /// The value of the one section of a list without sections.
    public struct WholeList: Hashable, Sendable {}
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension Database {
    /// The result of a query as a list on a screen has it: live, in sections, a page at a time, with the steps from each
    /// state to the next one.
    ///
    /// For example:
    ///
    /// ```swift
    /// let list = Database.FetchController(notes.find().sorted(by: "title"), pageSize: 50, sectionedBy: { $0.folder })
    /// list.onUpdate = { list in tableView.apply(list.changes) }
    /// // The last row appears:
    /// list.loadMore()
    /// // Somebody types into a search box:
    /// list.query = notes.find(["title": ["$begin": text]]).sorted(by: "title")
    /// ```
    ///
    /// It belongs to the main actor and is `Observable`: a SwiftUI view that reads ``sections`` or ``elements`` is updated
    /// when they change. Views that make each step themselves do so in ``onUpdate``, which misses none.
    ///
    /// It observes from its creation until it is released or ``stop()`` is called.
    @MainActor
    public final class FetchController<Section: Hashable & Sendable, Element: Sendable>: Observable {
        /// What is shown, and what the steps to the next state need.
        private struct Page: Sendable {
            var list = ObservedList<Element>()
            var update = SectionedListUpdate<Section, Element>(sections: [], changes: [], rows: ListSections())
            var hasMore = false
        }

        private let registrar = ObservationRegistrar()
        private let pageSize: Int?
        private let order: SectionOrder<Section>
        private let sectionValues: @Sendable (ObservedList<Element>) -> [Section]

        /// Why the path of the sections is no path.
        private let fault: TansuError?
        private var page = Page()
        private var failure: (any Error)?
        private var isRunning = true
        private var limit: Int?
        private var fetched: Query<Element>
        private var task: Task<Void, Never>?

        /// Called on the main actor after each update, when the controller has its new state.
        public var onUpdate: (@MainActor (FetchController) -> Void)?

        /// The sections, none of which is empty; no section before the first result.
        public var sections: [ListSection<Section, Element>] {
            registrar.access(self, keyPath: \.sections)
            return page.update.sections
        }

        /// The steps that led from the state before to this one: what ``loadMore()`` adds is inserted, and another
        /// ``query`` moves what it has in common with the one before.
        public var changes: [SectionedListChange] {
            registrar.access(self, keyPath: \.changes)
            return page.update.changes
        }

        /// Whether the query has documents after those that are loaded.
        public var hasMore: Bool {
            registrar.access(self, keyPath: \.hasMore)
            return page.hasMore
        }

        /// Whether a result is awaited: the first one, that of another query, or of a further page.
        public var isLoading: Bool {
            registrar.access(self, keyPath: \.isLoading)
            return isRunning
        }

        /// Why there is no newer result; `nil` when there is one. The sections stay as they were.
        ///
        /// It goes on as ``Database/ObservedValue`` does.
        public var error: (any Error)? {
            registrar.access(self, keyPath: \.error)
            return failure
        }

        /// All elements, section by section.
        public var elements: [Element] { sections.flatMap(\.elements) }

        /// The query. With another one its first page is loaded, and the elements stay until it is there.
        public var query: Query<Element> {
            get {
                registrar.access(self, keyPath: \.query)
                return fetched
            }
            set {
                registrar.withMutation(of: self, keyPath: \.query) { fetched = newValue }
                limit = pageSize
                run()
            }
        }

        private init(
            _ query: Query<Element>, _ pageSize: Int?, _ order: SectionOrder<Section>,
            fault: TansuError? = nil, _ sectionValues: @escaping @Sendable (ObservedList<Element>) -> [Section]
        ) {
            self.fault = fault
            self.pageSize = pageSize.map { max(1, $0) }
            self.order = order
            self.sectionValues = sectionValues
            fetched = query
            limit = self.pageSize
            run()
        }

        /// Begins to observe a query in sections.
        ///
        /// - Parameters:
        ///   - query: The documents and their order. Its limit, if it has one, holds for all pages together.
        ///   - pageSize: How many documents a page has, at least 1; `nil` for all at once.
        ///   - section: The value of a document, by which it belongs to a section. It is called on a thread of the
        ///     database, and must depend on the document alone.
        ///   - order: The order of the sections.
        public convenience init(
            _ query: Query<Element>, pageSize: Int? = nil,
            sectionedBy section: @escaping @Sendable (Element) -> Section,
            sorted order: SectionOrder<Section> = .byFirstElement
        ) {
            self.init(query, pageSize, order) { $0.elements.map(section) }
        }

        /// Begins to observe a query in sections by the value at a path, as `observe(sectionedBy:sorted:)` of the query
        /// has them.
        ///
        /// - Parameters:
        ///   - query: The documents and their order. Its limit, if it has one, holds for all pages together.
        ///   - pageSize: How many documents a page has, at least 1; `nil` for all at once.
        ///   - path: The dotted path of the value. With one that is malformed there is an ``error``.
        ///   - order: The order of the sections.
        public convenience init(
            _ query: Query<Element>, pageSize: Int? = nil, sectionedBy path: String,
            sorted order: SectionOrder<BSONValue?> = .byFirstElement
        ) where Section == BSONValue? {
            let (checked, path) = query.parsed(sectionPath: path)
            self.init(query, pageSize, order, fault: path == nil ? checked.fault : nil) { $0.sectionValues(at: path) }
        }

        /// Begins to observe a query as one section.
        ///
        /// - Parameters:
        ///   - query: The documents and their order. Its limit, if it has one, holds for all pages together.
        ///   - pageSize: How many documents a page has, at least 1; `nil` for all at once.
        public convenience init(_ query: Query<Element>, pageSize: Int? = nil) where Section == WholeList {
            self.init(query, pageSize, .byFirstElement) { [WholeList](repeating: WholeList(), count: $0.rows.count) }
        }

        deinit {
            task?.cancel()
        }

        /// Ends the observation. The sections stay.
        public func stop() {
            task?.cancel()
            task = nil
            setRunning(false)
        }

        /// Loads a further page, if there is one and none is being loaded.
        public func loadMore() {
            guard page.hasMore, !isRunning, task != nil, let pageSize, let limit else { return }
            self.limit = limit + pageSize
            run()
        }

        /// Observes the query with its present limit; the steps of the first result are those from what is shown.
        private func run() {
            task?.cancel()
            setRunning(true)
            let (limit, shown, order, sectionValues) = (limit, page, order, sectionValues)
            var query = fetched.committed
            query.fault = query.fault ?? fault
            if let limit {
                let most = (query.hints["$max"] ?? query.hints["$limit"])?.intValue ?? Int.max
                // One more tells whether there is another page.
                if limit < most { query = query.limit(limit + 1) }
            }
            let pages = Observation<Element, Page>(query) { list, old in
                let shown = old?.output ?? shown
                let loaded = limit.map(list.prefix) ?? list
                return Page(
                    list: loaded,
                    update: loaded.update(
                        of: sectionValues(loaded), sorted: order, from: (shown.list, shown.update.rows)),
                    hasMore: limit.map { list.found > $0 } ?? false)
            }
            task = Task.following(pages) { [weak self] in self?.receive($0) }
        }

        private func setRunning(_ running: Bool) {
            guard isRunning != running else { return }
            registrar.withMutation(of: self, keyPath: \.isLoading) { isRunning = running }
        }

        private func receive(_ result: Result<Page, any Error>) {
            switch result {
            case .failure(let error):
                registrar.withMutation(of: self, keyPath: \.error) { failure = error }
            case .success(let new):
                let hadMore = page.hasMore
                registrar.withMutation(of: self, keyPath: \.sections) {
                    registrar.withMutation(of: self, keyPath: \.changes) { page = new }
                }
                if hadMore != new.hasMore { registrar.withMutation(of: self, keyPath: \.hasMore) {} }
                if failure != nil { registrar.withMutation(of: self, keyPath: \.error) { failure = nil } }
            }
            setRunning(false)
            if case .success = result { onUpdate?(self) }
        }
    }
}
#endif
