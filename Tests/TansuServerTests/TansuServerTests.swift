#if TansuServer
    import Tansu
    import TansuServer
    import Testing

    @Test @available(macOS 14, *) func aServerKeepsItsDatabase() throws {
        let database = try Database(.memory)
        #expect(try TansuServer(database: database).database.collectionNames() == [])
    }
#endif
