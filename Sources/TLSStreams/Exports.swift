// Identities and trust are part of this module's declarations.
@_exported public import TLSValues
