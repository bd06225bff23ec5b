import Foundation
import Testing

@testable import TansuCommand

@Suite("The name of the program in printed commands")
struct ProgramNameTests {
    private func program(in command: Command, at path: String) throws -> String {
        let file = command.folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return file.path
    }

    @Test("the name, if the shell finds the program by it")
    func onPath() throws {
        let command = try Command()
        let program = try program(in: command, at: "bin/tansu")
        let name = ProgramName.name(
            executable: program, searchPath: "/nowhere:\(command.path("bin"))", folder: command.folder.path)
        #expect(name == "tansu")
    }

    @Test("a path, if the shell finds another program")
    func hidden() throws {
        let command = try Command()
        _ = try program(in: command, at: "bin/tansu")
        let program = try program(in: command, at: "here/tansu")
        let name = ProgramName.name(
            executable: program, searchPath: command.path("bin"), folder: command.folder.path)
        #expect(name == "./here/tansu")
    }

    @Test("the short path in the build folder after swift run")
    func built() throws {
        let command = try Command()
        let program = try program(in: command, at: ".build/some-machine/release/tansu")
        try FileManager.default.createSymbolicLink(
            atPath: command.path(".build/release"), withDestinationPath: "some-machine/release")
        let name = ProgramName.name(executable: program, searchPath: "", folder: command.folder.path)
        #expect(name == ".build/release/tansu")
    }
}
