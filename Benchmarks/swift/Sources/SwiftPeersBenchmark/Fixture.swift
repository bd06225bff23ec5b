import Foundation

/// What all rows share.
struct Fixture: Sendable {
    let people: People
    /// A tenth as many books.
    let library: Library

    init(documents: Int) {
        people = People(count: documents)
        library = Library(books: documents / 10)
    }
}

/// One library and its databases: a loaded one, which the rows share that read, and empty ones.
final class Subject: @unchecked Sendable {
    let name: String
    private let type: any Peer.Type
    private let libraryType: any LibraryPeer.Type
    private let folder: String
    // Rows run one after another, so that nothing here is used concurrently.
    private var loaded: (any Peer)?
    private var library: (any LibraryPeer)?

    init(_ name: String, _ type: any Peer.Type, _ libraryType: any LibraryPeer.Type, folder: String) {
        self.name = name
        self.type = type
        self.libraryType = libraryType
        self.folder = folder + "/" + name
    }

    var emptyFolder: String { folder + "-empty" }

    func openEmpty(_ durability: Durability) throws -> any Peer {
        try FileManager.default.createDirectory(atPath: emptyFolder, withIntermediateDirectories: true)
        let peer = try type.init(folder: emptyFolder, durability: durability)
        sync()
        return peer
    }

    func openEmptyLibrary() throws -> any LibraryPeer {
        try FileManager.default.createDirectory(atPath: emptyFolder, withIntermediateDirectories: true)
        return try libraryType.init(folder: emptyFolder)
    }

    /// Closes it, if it is open, and removes its files.
    func removeEmpty(_ peer: (any Closable)?) throws {
        try peer?.close()
        try FileManager.default.removeItem(atPath: emptyFolder)
    }

    /// Everyone, with indexes on name, city and age; durability `process`.
    func openLoaded(_ fixture: Fixture) throws -> any Peer {
        if let loaded { return loaded }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let peer = try type.init(folder: folder, durability: .process)
        for field in Field.allCases { try peer.createIndex(on: field) }
        try peer.load(fixture.people.all)
        try peer.checkpoint()
        loaded = peer
        return peer
    }

    /// The library, loaded.
    func openLibrary(_ fixture: Fixture) throws -> any LibraryPeer {
        if let library { return library }
        let folder = folder + "-library"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let peer = try libraryType.init(folder: folder)
        try peer.load(fixture.library)
        try peer.checkpoint()
        library = peer
        return peer
    }

    func close() throws {
        try loaded?.close()
        try library?.close()
        loaded = nil
        library = nil
    }
}
