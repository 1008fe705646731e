-- expect: unseen 2
local access = "user‮ ⁦-- admin⁩ ⁦"
