-- expect: syntax 2
(1) = 2
