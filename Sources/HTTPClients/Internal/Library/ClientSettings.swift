internal import CTransfers
internal import Glibc
internal import TLSValues

/// The settings of all transfers of a client, with strings that libcurl can read at any time.
@safe
final class ClientSettings {
    private(set) var settings: runloops_settings
    private(set) var callbacks = transferCallbacks()

    init(_ options: HTTPClient.Options) {
        // Safe: `deinit` frees the copies.
        func copy(_ text: String?) -> UnsafePointer<CChar>? {
            unsafe text.flatMap { unsafe UnsafePointer(strdup($0)) }
        }
        unsafe settings = runloops_settings(
            is_compressed: options.acceptsCompression, versions: options.libraryVersions,
            proxy: copy(options.proxyText), unix_path: copy(options.unixSocketPath),
            agent: copy(options.userAgent), trust: ClientSettings.copy(options.trust.certificates),
            certificate: ClientSettings.copy(options.identity?.certificates),
            key: ClientSettings.copy(options.identity?.key),
            // libcurl 7.88 reads the passphrase of an encrypted key even if there is none, and would end the program.
            passphrase: copy(options.identity.map { $0.passphrase ?? "" }))
    }

    /// Copies a text, with one byte more, so that the copy of an empty text is not "no text".
    private static func copy(_ text: PEM?) -> runloops_text {
        guard let text else { return unsafe runloops_text() }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: text.bytes.count + 1, alignment: 1)
        // Safe: the text fits into the room, which `deinit` frees.
        unsafe room.copyBytes(from: text.bytes)
        return unsafe runloops_text(bytes: room.baseAddress, count: text.bytes.count)
    }

    deinit {
        unsafe free(UnsafeMutablePointer(mutating: settings.proxy))
        unsafe free(UnsafeMutablePointer(mutating: settings.unix_path))
        unsafe free(UnsafeMutablePointer(mutating: settings.agent))
        unsafe UnsafeRawPointer(settings.trust.bytes)?.deallocate()
        unsafe UnsafeRawPointer(settings.certificate.bytes)?.deallocate()
        unsafe UnsafeRawPointer(settings.key.bytes)?.deallocate()
        unsafe free(UnsafeMutablePointer(mutating: settings.passphrase))
    }

    /// Makes a handle of libcurl with these settings; nil if that fails.
    func makeHandle(_ multi: OpaquePointer?, for transfer: HTTPTransfer) -> OpaquePointer? {
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        // Safe: libcurl copies the strings, and the set holds the transfer as long as it has its handle.
        return unsafe runloops_transfer_new(multi, &settings, &callbacks, context)
    }
}

extension HTTPClient.Options {
    fileprivate var proxyText: String? {
        // A Unix socket is on this machine, so no proxy leads to it.
        if unixSocketPath != nil { return "" }
        return switch proxy {
        case .environment: nil
        case .none: ""
        case .url(let url): url
        }
    }

    fileprivate var libraryVersions: runloops_versions {
        switch versions {
        case .automatic: runloops_automatic_version
        case .http1: runloops_http1
        }
    }
}
