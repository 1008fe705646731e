-- expect: label 2, label 2, syntax 2
::a:: local function f () goto a end
