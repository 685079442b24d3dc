/// The scripts that the server runs, each as one atomic step.
///
/// Some scripts compute the keys of a generation from the digits that identify it. These keys have the same hash tag as the key
/// that names the generation, so all keys are in the same slot of a cluster.
enum Scripts {
    /// Returns the identity of the current generation.
    ///
    /// If there is no generation, or the stream of the current one is missing, the script first begins a new generation.
    ///
    /// KEYS: generation. ARGV: identity of a new generation, prefix of keys. Returns the identity of the generation.
    static let open = """
        local g=redis.call('GET',KEYS[1])
        if g then
         local t=redis.call('TYPE',ARGV[2]..'s:'..g).ok
         if t=='stream' then return g end
         if t~='none' then return redis.error_reply('WRONGTYPE the key '..ARGV[2]..'s:'..g..' holds a '..t..', not a stream') end
         redis.call('DEL',ARGV[2]..'p:'..g,ARGV[2]..'e:'..g)
        end
        redis.call('XADD',ARGV[2]..'s:'..ARGV[1],'*','k','g')
        redis.call('SET',KEYS[1],ARGV[1])
        return ARGV[1]
        """

    /// Adds to the stream one entry with those posts of a batch that the stream does not have yet.
    ///
    /// KEYS: generation, stream, posters.
    ///
    /// ARGV: the generation; the stream's approximate maximum length; the poster; the number of the batch's first post; the number
    /// of its last post; the highest number that was sent before on the same connection; the records of a ``PostBatch``.
    ///
    /// Returns 1 on success. Returns -1 if the generation has changed or the stream no longer exists. Returns -2 if the server has
    /// refused earlier posts of the connection.
    ///
    /// The server stores the last number of each poster, and the posts of a poster arrive in order. If a post is sent again on a
    /// later connection, its number is not above the stored number, and the script skips the post.
    static let post = """
        if redis.call('GET',KEYS[1])~=ARGV[1] then return -1 end
        local had=tonumber(redis.call('HGET',KEYS[3],ARGV[3]) or '0')
        if had<tonumber(ARGV[6]) then return -2 end
        if tonumber(ARGV[5])<=had then return 1 end
        local b=ARGV[7]
        if tonumber(ARGV[4])<=had then
         local i=1
         while true do
          local size,n=struct.unpack('<I4I8',b,i)
          if n>had then break end
          i=i+4+size
         end
         b=string.sub(b,i)
        end
        if not redis.call('XADD',KEYS[2],'NOMKSTREAM','MAXLEN','~',ARGV[2],'*','p',ARGV[3],'n',ARGV[5],'b',b) then return -1 end
        redis.call('HSET',KEYS[3],ARGV[3],ARGV[5])
        return 1
        """

    /// Adds to the stream one entry with the horizons of a poster.
    ///
    /// KEYS: generation, stream, posters.
    ///
    /// ARGV: the generation; the stream's approximate maximum length; the poster; the number of the announcement; the highest
    /// number that was sent before on the same connection; a flag; the other fields of the entry. The flag is 1 if the server has
    /// already added an entry of the poster in this generation, otherwise 0.
    ///
    /// Returns 1, -1 or -2 as ``post`` does.
    ///
    /// The script sets the entry's field `f` to 1 if the poster is new to this generation. In that case, a base horizon
    /// (``Horizon/isBase``) means no loss, because an earlier generation has accepted the posts. In every other case, a horizon
    /// can mean a loss.
    ///
    /// The server's list of posters is not enough to find out if the poster is new. If the server has lost its newest entries, it
    /// has also forgotten the posters of those entries. So the poster itself sends the flag, too.
    static let announce = """
        if redis.call('GET',KEYS[1])~=ARGV[1] then return -1 end
        local had=redis.call('HGET',KEYS[3],ARGV[3])
        local number=tonumber(had or '0')
        if number<tonumber(ARGV[5]) then return -2 end
        local first=(had or ARGV[6]=='1') and '0' or '1'
        if not redis.call('XADD',KEYS[2],'NOMKSTREAM','MAXLEN','~',ARGV[2],'*','f',first,unpack(ARGV,7)) then return -1 end
        if tonumber(ARGV[4])>number then redis.call('HSET',KEYS[3],ARGV[3],ARGV[4]) end
        return 1
        """

    /// Records the end of a poster, in a new entry of the stream and in the list of ended posters.
    ///
    /// The list is for readers that begin after the entry has been removed from the stream.
    ///
    /// KEYS: generation, stream, posters, list of ended posters.
    ///
    /// ARGV: the generation; the stream's approximate maximum length; the poster; the poster's last number; the maximum length of
    /// the list.
    ///
    /// Returns 1 or -1 as ``post`` does.
    static let end = """
        if redis.call('GET',KEYS[1])~=ARGV[1] then return -1 end
        local had=redis.call('HGET',KEYS[3],ARGV[3]) or '0'
        local id=redis.call('XADD',KEYS[2],'NOMKSTREAM','MAXLEN','~',ARGV[2],'*','k','e','p',ARGV[3],'n',had,'l',ARGV[4])
        if not id then return -1 end
        redis.call('HDEL',KEYS[3],ARGV[3])
        redis.call('RPUSH',KEYS[4],ARGV[3]..' '..had..' '..ARGV[4]..' '..id)
        while redis.call('LLEN',KEYS[4])>tonumber(ARGV[5]) do
         local oldest=redis.call('LPOP',KEYS[4])
         redis.call('HSET',KEYS[3],'forgotten',string.match(oldest,'[^ ]+$'))
        end
        return 1
        """

    /// The maximum number of ended posters in the list that the server keeps.
    static let mostEnds = 1_024

    /// Returns the lowest ID in the stream or, if the stream is empty, the last ID that the stream has generated.
    ///
    /// KEYS: stream. Returns nil if there is no stream.
    static let first = """
        if redis.call('EXISTS',KEYS[1])==0 then return false end
        local r=redis.call('XRANGE',KEYS[1],'-','+','COUNT',1)
        if r[1] then return r[1][1] end
        local i=redis.call('XINFO','STREAM',KEYS[1])
        for n=1,#i,2 do if i[n]=='last-generated-id' then return i[n+1] end end
        """

    /// The maximum number of entries of a reply.
    ///
    /// A reply with so many entries of large posts takes some 20 MB.
    static let mostEntries = 128

    /// Reads up to ``mostEntries`` entries after a given ID and, if it has reached the end of the stream, the last numbers of the
    /// posters.
    ///
    /// KEYS: stream, posters, list of ended posters. ARGV: the ID, or an empty string to read no entries.
    ///
    /// Returns the entries, and the lowest ID in the stream. If the script has read fewer entries, it has reached the end of the
    /// stream. It then also returns the last ID that the stream has generated, the posters with their last numbers, and the
    /// list of ended posters.
    static let scan = """
        local r,f={},''
        if ARGV[1]~='' then
         r=redis.call('XRANGE',KEYS[1],'('..ARGV[1],'+','COUNT',\(mostEntries))
        end
        local e=redis.call('XRANGE',KEYS[1],'-','+','COUNT',1)
        if e[1] then f=e[1][1] end
        if #r>=\(mostEntries) then return {r,f} end
        local i,l=redis.call('XINFO','STREAM',KEYS[1]),'0-0'
        for n=1,#i,2 do if i[n]=='last-generated-id' then l=i[n+1] end end
        if f=='' then f=l end
        return {r,f,l,redis.call('HGETALL',KEYS[2]),redis.call('LRANGE',KEYS[3],0,-1)}
        """

    static let all = [open, post, announce, end, first, scan]
}
