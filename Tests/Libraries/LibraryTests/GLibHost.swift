import CGLib
import RunLoops

/// Serves the run loop of the calling thread from a main context of GLib: a source of GLib's whose three steps are those of a
/// guest.
///
/// `@safe`: the source belongs to the host from `init` to `deinit`, and the context calls it only on the host's thread.
@safe
final class GLibHost {
    let guest: RunLoop.Guest
    private let source: UnsafeMutablePointer<GSource>
    /// The times that the context has asked if the guest is ready, which it does once before and once after each wait.
    private(set) var preparations = 0
    private(set) var services = 0

    /// The functions of the source, which GLib keeps a pointer to.
    ///
    /// `nonisolated(unsafe)`: nothing changes them after they are set here.
    nonisolated(unsafe) private static let functions: UnsafeMutablePointer<GSourceFuncs> = {
        let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        unsafe functions.initialize(to: GSourceFuncs())
        unsafe functions.pointee.prepare = { source, timeout in
            guard let source = unsafe source else { return 0 }
            // The guest's timers make its descriptor readable, so the context needs no time-out.
            unsafe timeout?.pointee = -1
            return unsafe GLibHost.of(source).prepare() ? 1 : 0
        }
        unsafe functions.pointee.check = { source in
            guard let source = unsafe source else { return 0 }
            return unsafe GLibHost.isReadable(source) ? 1 : 0
        }
        unsafe functions.pointee.dispatch = { source, _, _ in
            guard let source = unsafe source else { return 0 }
            unsafe GLibHost.of(source).serve()
            return 1
        }
        return unsafe functions
    }()

    /// Adds the guest to a main context.
    ///
    /// - Parameters:
    ///   - guest: The guest.
    ///   - context: The context that the calling thread runs; nil for GLib's default one.
    init(_ guest: RunLoop.Guest, in context: OpaquePointer?) {
        self.guest = guest
        let size = guint(MemoryLayout<glib_shim_source>.size)
        guard let source = unsafe g_source_new(GLibHost.functions, size) else {
            fatalError("GLib has no memory")
        }
        unsafe self.source = source
        // Safe: the source has room for this, and is destroyed before the host.
        unsafe source.withMemoryRebound(to: glib_shim_source.self, capacity: 1) {
            unsafe $0.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
            unsafe $0.pointee.tag = g_source_add_unix_fd(source, guest.descriptor, G_IO_IN)
        }
        unsafe g_source_attach(source, context)
    }

    deinit {
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
    }

    private func prepare() -> Bool {
        preparations += 1
        return guest.prepare()
    }

    private func serve() {
        services += 1
        guest.serve()
    }

    private static func of(_ source: UnsafeMutablePointer<GSource>) -> GLibHost {
        unsafe source.withMemoryRebound(to: glib_shim_source.self, capacity: 1) {
            unsafe Unmanaged<GLibHost>.fromOpaque($0.pointee.owner).takeUnretainedValue()
        }
    }

    private static func isReadable(_ source: UnsafeMutablePointer<GSource>) -> Bool {
        unsafe source.withMemoryRebound(to: glib_shim_source.self, capacity: 1) {
            unsafe g_source_query_unix_fd(source, $0.pointee.tag).rawValue & G_IO_IN.rawValue != 0
        }
    }
}
