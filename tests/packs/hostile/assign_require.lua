-- expect: assign 2
require = nil
