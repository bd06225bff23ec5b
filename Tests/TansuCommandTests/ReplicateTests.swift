import Foundation
import Testing

@Suite("tansu replicate")
struct ReplicateTests {
    @Test(
        "what names no two sides is an error of usage",
        arguments: [
            (["people.tansu", "copy.tansu/people"], "neither FOLDER/COLLECTION nor a URL"),
            (["people.tansu/people", "/people"], "neither FOLDER/COLLECTION nor a URL"),
            (["people.tansu/people", "copy.tansu/people", "--id", "a", "--selector", "{}"], "exclude each other"),
            (["people.tansu/people", "copy.tansu/people", "--password-file", "a"], "needs a user"),
            (
                ["http://root@a.test/q", "http://bob@b.test/q", "--password-file", "a"],
                "\"root\" and \"bob\" would get the same password"
            ),
            (["http://a.test/q", "http://bob@b.test/q", "--user", "root"], "would get the same password"),
        ])
    func usage(words: [String], message: String) throws {
        let command = try Command.withPeople()
        let result = try command.tansu(["replicate"] + words, input: [])
        #expect(result.status == 64)
        #expect(result.error.contains(message))
    }

    #if TansuSync
    /// A folder with a database whose collection `people` has text as ids.
    private static func replicable() throws -> Command {
        let command = try Command()
        let saved = try command.tansu(
            "save", "people.tansu", "people", #"{"_id": "mike", "age": 12}"#, #"{"_id": "anna", "age": 30}"#)
        try #require(saved.status == 0, "\(saved.error)")
        return command
    }

    @Test("from folder to folder: once, again, both ways, and by a selector")
    func folders() throws {
        let command = try Self.replicable()
        let count = try command.tansu("count", "people.tansu", "people").output
        let first = try command.tansu(
            "replicate", "people.tansu/people", "copy.tansu/people", "--create", "--json")
        #expect(first.status == 0, "\(first.error)")
        #expect(first.output.contains("\"failed\": 0") || first.output.contains("\"failed\":0"))
        #expect(try command.tansu("count", "copy.tansu", "people").output == count)
        let again = try command.tansu("replicate", "people.tansu/people", "copy.tansu/people")
        #expect(again.output.contains("0 revisions copied, 0 not copied."))

        let saved = try command.tansu("save", "copy.tansu", "people", #"{"_id": "new", "n": 1}"#)
        #expect(saved.status == 0)
        let both = try command.tansu("replicate", "people.tansu/people", "copy.tansu/people", "--both")
        #expect(both.output.contains("1 revision copied"))
        #expect(try command.tansu("get", "people.tansu", "people", "new").status == 0)

        let selected = try command.tansu(
            "replicate", "people.tansu/people", "selected.tansu/people", "--create", "--selector",
            #"{"n": {"$gt": 0}}"#)
        #expect(selected.output.contains("1 revision copied"))
        // Two collections of one database.
        let beside = try command.tansu("replicate", "copy.tansu/people", "copy.tansu/other", "--create")
        #expect(beside.status == 0, "\(beside.error)")
    }

    @Test("what does not exist, or does not answer, has a status of its own")
    func failures() throws {
        let command = try Self.replicable()
        let target = try command.tansu("replicate", "people.tansu/people", "absent.tansu/people")
        #expect(target.status == 66 && !command.exists("absent.tansu"))
        let source = try command.tansu("replicate", "people.tansu/absent", "copy.tansu/a", "--create")
        #expect(source.status == 66 && !command.exists("copy.tansu"))
        let url = try command.tansu("replicate", "people.tansu/people", "http://127.0.0.1:1")
        #expect(url.status == 64 && url.error.contains("INVALID_URL"))
        let password = try command.tansu(
            "replicate", "people.tansu/people", "http://127.0.0.1:1/a", "--user", "anna")
        #expect(password.status == 64 && password.error.contains("NO_PASSWORD"))
        let named = try command.tansu("replicate", "people.tansu/people", "http://an%20na@127.0.0.1:1/a")
        #expect(named.status == 64 && named.error.contains("The user \"an na\" has no password"))
        let file = try command.tansu(
            "replicate", "people.tansu/people", "http://anna@127.0.0.1:1/a", "--password-file", "absent")
        #expect(file.status == 64 || file.error.contains("The file \"absent\" cannot be read"))
        try command.write("empty", "\nsecond line\n")
        let empty = try command.tansu(
            "replicate", "people.tansu/people", "http://anna@127.0.0.1:1/a", "--password-file", "empty")
        #expect(empty.status == 64 && empty.error.contains("The user \"anna\" has no password"), "\(empty.error)")
        let port = try command.tansu("replicate", "people.tansu/people", "http://127.0.0.1:99999/a")
        #expect(port.status == 64 && port.error.contains("INVALID_URL"), "\(port.error)")
        for (file, fault) in [
            ("absent", "\"absent\" cannot be read"), ("empty", "\"empty\" has no PEM certificates"),
        ] {
            let trust = try command.tansu(
                "replicate", "people.tansu/people", "https://127.0.0.1:1/a", "--trusted-certificates", file)
            #expect(trust.status == 64 && trust.error.contains(fault), "\(trust.error)")
        }
        let ids = try Command.withPeople().tansu(
            "replicate", "people.tansu/people", "copy.tansu/people", "--create")
        #expect(ids.status == 65 && ids.error.contains("NOT_REPLICABLE"))
        let selector = try command.tansu(
            "replicate", "people.tansu/people", "people.tansu/b", "--create", "--selector", "{")
        #expect(selector.status == 65)
    }
    @Test("a server that is away is named, in the words of the system")
    func offline() throws {
        let command = try Self.replicable()
        for (url, reason) in [
            ("http://127.0.0.1:1/a", "Connection refused"), ("http://absent.invalid/a", "Its host is not known"),
        ] {
            let process = try command.start(["replicate", "people.tansu/people", url])
            while process.isRunning, try !command.text("error").contains("offline") {
                Thread.sleep(forTimeInterval: 0.05)
            }
            process.interrupt()
            process.waitUntilExit()
            let text = try command.text("error")
            #expect(
                text.hasPrefix("tansu: offline: There is no answer from \(url): \(reason); trying again in "),
                "\(text)")
        }
    }

    #if TansuServer
    @Test("the user of a URL is sent with the password of the file")
    func userOfURL() throws {
        let command = try Self.replicable()
        try command.write("secret", "correct horse\r\nanother line\n")
        let server = try command.start(
            [
                "serve", "served.tansu", "--create", "--port", "0", "--admin", "anna", "--password-file",
                "secret", "--json",
            ])
        defer {
            server.terminate()
            server.waitUntilExit()
        }
        var port: String?
        while port == nil, server.isRunning {
            Thread.sleep(forTimeInterval: 0.05)
            port = try command.text("output").firstMatch(of: /127\.0\.0\.1:(\d+)/).map { String($0.1) }
        }
        let root = "127.0.0.1:\(try #require(port))"
        let file = ["--password-file", "secret", "--create"]
        for url in ["http://anna@\(root)/a", "http://anna:correct%20horse@\(root)/b"] {
            let result = try command.tansu(["replicate", "people.tansu/people", url] + file, input: [])
            #expect(result.status == 0 && result.output.contains("2 revisions copied"), "\(result.error)")
        }
        let option = try command.tansu(
            ["replicate", "people.tansu/people", "http://\(root)/c", "--user", "anna"] + file, input: [])
        #expect(option.status == 0, "\(option.error)")
        let other = try command.tansu(
            ["replicate", "people.tansu/people", "http://bob@\(root)/a", "--user", "anna"] + file, input: [])
        #expect(other.status == 77 && other.error.contains("UNAUTHORIZED"))
    }
    #endif
    #else
    @Test("without the trait it says how to get it")
    func untraited() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("replicate", "people.tansu/people", "copy.tansu/people")
        #expect(result.status == 69 && result.error.contains("--traits TansuSync"))
    }
    #endif
}
