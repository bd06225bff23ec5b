-- Batches of 100 new documents.
local common = require("common")

function init(args) common.start(args) end

function request()
    local documents = {}
    for index = 1, 100 do
        documents[index] = '{"_id":"' .. common.new() .. '",' .. common.fields(common.counter) .. "}"
    end
    return wrk.format("POST", "/people/_bulk_docs", nil, '{"docs":[' .. table.concat(documents, ",") .. "]}")
end
