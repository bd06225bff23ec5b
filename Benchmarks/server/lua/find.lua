-- One document by the index on its email.
local common = require("common")

function init(args) common.start(args) end

function request()
    local number = math.random(0, common.documents - 1)
    return wrk.format("POST", "/people/_find", nil,
        string.format('{"selector":{"email":"person%d@example.com"},"limit":25}', number))
end
