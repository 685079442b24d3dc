#if HTTPServers
    // The values of requests and responses, such as names of fields.
    @_exported public import HTTPTypes
#endif
