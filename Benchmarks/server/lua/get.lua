local common = require("common")

function init(args) common.start(args) end

function request() return wrk.format("GET", "/people/" .. common.existing()) end
