import TestSupport
import Testing

/// The code in the articles of HTTPServers compiles and runs, and their links lead to files.
@Suite struct ArticleTests {
    @Test(arguments: try Documentation.articles(of: "HTTPServers"))
    func `every block of Swift stands in a snippet that compiles`(page: String) throws {
        for block in try Documentation.blocks(of: page, missingIn: "NIO/HTTPServersTests") {
            Issue.record("\(page) has a block that no snippet has:\n\(block)")
        }
    }

    @Test(arguments: try Documentation.articles(of: "HTTPServers"))
    func `a block of code says which language it is in`(page: String) throws {
        #expect(try Documentation.strayMarkers(of: page).isEmpty)
    }

    @Test(arguments: try Documentation.articles(of: "HTTPServers"))
    func `every link to a file of the package leads to one`(page: String) throws {
        #expect(try Documentation.brokenLinks(of: page).isEmpty)
    }
}
