// The methods, statuses and fields of messages, and the identities of TLS, are part of this module's declarations.
@_exported public import HTTPTypes
@_exported public import TLSValues
