// The floor: a bare agent loop without policy, log or ledger. Reads lines of JSON `{directory, baseUrls}`; runs the turns
// of all of them at once and prints a line when they are done.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { askChat } from "./chat-floor.ts";

const run = promisify(execFile);
const tools = JSON.stringify(
  ["Read", "Edit", "Bash"].map((name) => ({ type: "function", function: { name, parameters: { type: "object" } } })),
);

for await (const line of createInterface({ input: process.stdin })) {
  const { directory, baseUrls } = JSON.parse(line) as { directory: string; baseUrls: readonly string[] };
  await Promise.all(baseUrls.map((baseUrl) => turn(directory, baseUrl)));
  process.stdout.write("done\n");
}

interface Call {
  id: string;
  name: string;
  arguments: string;
}

async function turn(directory: string, baseUrl: string): Promise<void> {
  // Kept as JSON: a call costs its own size, and not the conversation's.
  const messages = [
    JSON.stringify({ role: "system", content: "You are an agent." }),
    JSON.stringify({ role: "user", content: "Go on." }),
  ];
  for (;;) {
    const calls: Call[] = [];
    let content = "";
    const body = `{"model":"bench","stream":true,"tools":${tools},"messages":[${messages.join(",")}]}`;
    await askChat(baseUrl, body, ({ choices }) => {
      const delta = choices[0]?.delta;
      content += delta?.content ?? "";
      for (const piece of delta?.tool_calls ?? []) {
        const call = (calls[piece.index] ??= { id: piece.id ?? "", name: "", arguments: "" });
        call.name += piece.function.name ?? "";
        call.arguments += piece.function.arguments ?? "";
      }
    });
    if (calls.length === 0) return;
    const made = calls.map(({ id, ...called }) => ({ id, type: "function", function: called }));
    messages.push(JSON.stringify({ role: "assistant", content, tool_calls: made }));
    const results = await Promise.all(calls.map((call) => act(directory, call)));
    for (const [index, result] of results.entries()) {
      messages.push(JSON.stringify({ role: "tool", tool_call_id: calls[index]?.id, content: result }));
    }
  }
}

async function act(directory: string, call: Call): Promise<string> {
  const args = JSON.parse(call.arguments) as Record<string, string>;
  const path = join(directory, args["file_path"] ?? "");
  switch (call.name) {
    case "Read":
      return (await readFile(path, "utf8"))
        .split("\n")
        .slice(0, Number(args["limit"] ?? 2000))
        .join("\n");
    case "Edit": {
      const text = await readFile(path, "utf8");
      if (!text.includes(args["old_string"] ?? "")) throw new Error("The text to replace is not there.");
      await writeFile(path, text.replace(args["old_string"] ?? "", args["new_string"] ?? ""));
      return "Edited.";
    }
    default:
      return (await run("/bin/sh", ["-c", args["command"] ?? ""], { cwd: directory })).stdout;
  }
}
