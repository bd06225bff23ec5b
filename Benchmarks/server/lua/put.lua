local common = require("common")

function init(args) common.start(args) end

function request()
    local id = common.new()
    return wrk.format("PUT", "/people/" .. id, nil, "{" .. common.fields(common.counter) .. "}")
end
