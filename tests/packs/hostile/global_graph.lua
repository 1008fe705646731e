-- expect: global 2
graph.emit ("x")
