-- expect: global 2
module ("x")
