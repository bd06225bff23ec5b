import Foundation

/// Bytes of disk blocks of all files of a folder.
private func diskBytes(_ folder: String) throws -> Int {
    var bytes = 0
    let names = FileManager.default.enumerator(atPath: folder)
    while let name = names?.nextObject() as? String {
        var status = stat()
        try require(stat(folder + "/" + name, &status) == 0, "\(name) has no size")
        if status.st_mode & S_IFMT == S_IFREG { bytes += Int(status.st_blocks) * 512 }
    }
    return bytes
}

private func size(indexes: [Field], closed: Bool) -> @Sendable (Fixture, Subject) async throws -> Outcome {
    { fixture, subject in
        let peer = try subject.openEmpty(.full)
        for field in indexes { try peer.createIndex(on: field) }
        try peer.load(fixture.people.all)
        try peer.checkpoint()
        if closed { try peer.close() }
        let bytes = try diskBytes(subject.emptyFolder)
        try subject.removeEmpty(closed ? nil : peer)
        return Outcome(value: Double(bytes) / 1e6, check: 0)
    }
}

let sizeRows = [
    Row(key: "size-0", title: "files, 0 indexes, closed", unit: "MB", once: true, run: size(indexes: [], closed: true)),
    Row(
        key: "size-2", title: "files, 2 indexes, closed", unit: "MB", once: true,
        run: size(indexes: [.name, .city], closed: true)),
    Row(
        key: "size-2-open", title: "files, 2 indexes, after a checkpoint", unit: "MB", once: true,
        run: size(indexes: [.name, .city], closed: false)),
]
