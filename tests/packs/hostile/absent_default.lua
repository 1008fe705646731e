-- expect: absent 3
local function f (run)
    run = run or load
    return run ("return 1")
end
f ()
