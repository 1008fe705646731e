#!/usr/bin/env node
// Prints every event of a fleet and misses none: monitor.mjs HOME [AFTER]    (npm install zeromq @msgpack/msgpack)
// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises"
import { readFileSync, realpathSync } from "node:fs"
import { Request, Subscriber } from "zeromq"
import { decode, encode } from "@msgpack/msgpack"

const home = realpathSync(process.argv[2])
const readToken = () => readFileSync(`${home}/run/token`, "utf8").trim()
let token = readToken()
const sub = new Subscriber(), req = new Request({ relaxed: true, correlate: true, receiveTimeout: 2000 })
sub.connect(`ipc://${home}/run/monitor.sock`)
sub.subscribe()
req.connect(`ipc://${home}/run/client.sock`)

async function ask(fields) {
    for (;;) {                                       // again when no answer comes; a late one is dropped
        await req.send(encode({ token, ...fields }))
        const answer = await req.receive().catch(() => null)
        if (!answer) continue                        // the fleet may be down
        const page = decode(answer[0]), old = token
        if (page.do !== "error") return page
        if (page.retryable) { await sleep(100); continue }
        token = readToken()                          // each start of the fleet makes another
        if (token === old) throw new Error(`${page.message}\n${page.hint}`)
    }
}

let store, last = process.argv[3] && Number(process.argv[3])
for await (const [topic, bytes] of sub) {            // a hint
    const head = decode(bytes), beat = topic.toString() === "beat"
    last ??= head.stream - 1                         // begin with this one
    let behind = head.stream > last || beat && (head.store !== store || head.stream !== last)
    while (behind) {                                 // read the log, miss nothing
        const page = await ask({ do: "events", after: last, limit: 500 })
        if ((store ?? page.store) !== page.store || page.stream < last)
            last = 0                                 // another store, or what it was earlier: start over
        else {
            for (const event of page.events) console.log(event.stream, event.label, event.type)
            last = page.after
        }
        store = page.store
        behind = last < page.stream
    }
}
