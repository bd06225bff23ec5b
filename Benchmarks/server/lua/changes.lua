-- A hundred changes from a random sequence on.
local common = require("common")

function init(args) common.start(args) end

function request()
    return wrk.format("GET", string.format("/people/_changes?limit=100&since=%d-%s",
        math.random(0, common.documents - 101), common.prefix))
end
