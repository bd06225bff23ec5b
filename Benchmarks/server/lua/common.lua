-- What the scripts of wrk share: headers, documents, and the result as one line of JSON.
-- The arguments after "--" are the authorization, the number of documents, and a prefix for new ids.

local common = { counter = 0 }

function common.start(args)
    wrk.headers["Authorization"] = args[1]
    wrk.headers["Content-Type"] = "application/json"
    common.documents = tonumber(args[2])
    common.prefix = args[3]
    math.randomseed(20261122)
end

function common.existing()
    return string.format("person-%08d", math.random(0, common.documents - 1))
end

function common.new()
    common.counter = common.counter + 1
    return string.format("%s-%09d", common.prefix, common.counter)
end

function common.fields(number)
    return string.format(
        '"name":"Name %d","age":%d,"email":"new%d@example.com","tags":["t%d","t%d","t%d"],"address":{"city":"City %d","zip":"%05d"}',
        number / 10, number % 80, number, number % 7, number % 11, number % 13, number % 80, number % 100)
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        'RESULT {"requests":%d,"seconds":%f,"bytes":%d,"median":%f,"high":%f,"longest":%f,"failures":%d}\n',
        summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e3,
        latency:percentile(99) / 1e3, latency.max / 1e3,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end

return common
