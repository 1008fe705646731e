#!/usr/bin/env node
// The reviewer in Node, with node_modules beside it: npm install zeromq@6 @msgpack/msgpack@3
// SPDX-License-Identifier: Apache-2.0
import { Request } from "zeromq"
import { decode, encode } from "@msgpack/msgpack"

const sock = new Request()
sock.connect(process.env.AGSUP_WORKER)

async function ask(fields) {
    await sock.send(encode(fields))
    const [bytes] = await sock.receive(), answer = decode(bytes)
    if (answer.do === "error" || answer.do === "refused") throw new Error(`${answer.code}: ${answer.message}`)
    return answer
}

function judge({ text, most }) {                     // plain code here, a call of a model in yours
    const words = text.split(" ").filter(word => word).length
    return { opinion: words > most ? "shorten" : "keep", words }
}

async function review(finding) {
    const [limit] = (await ask({ do: "get", id: "limit#words" })).objects
    const args = { text: finding.text, most: limit?.data.most ?? 5 }
    let call = await ask({ do: "effect", tool: "judge", args, idempotent: true })
    if (call.do === "go") {
        call = { output: judge(args) }
        await ask({ do: "outcome", ...call })
    }
    const verdict = `verdict#${finding.id}`
    const ops = [{ op: "add_object", type: "verdict", id: verdict, data: { finding: finding.id, opinion: call.output } }]
    if (finding.about) ops.push({ op: "add_relation", source: verdict, target: finding.about, type: "about" })
    return [...ops, { op: "emit", type: "verdict.given", payload: { finding: finding.id } }]
}

await ask({ do: "hello", protocol: 1, nonce: process.env.AGSUP_NONCE, name: "reviewer",
            behaviors: [{ name: "review", on: ["finding.reported"] }] })
for (let job; (job = await ask({ do: "next" })).do === "invoke";)
    await ask({ do: "done", ops: await review(job.event.payload) })
process.exit(0)
