-- expect: syntax 2
end
