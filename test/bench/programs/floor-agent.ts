// The floor: a bare agent loop without policy, log or ledger. Reads lines of JSON `{directory, baseUrls}`; runs the turns
// of all of them at once and prints a line when they are done.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { type ChatCall, chatChunks } from "./chat-floor.ts";

const run = promisify(execFile);
const tools = ["Read", "Edit", "Bash"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object" } },
}));

for await (const line of createInterface({ input: process.stdin })) {
  const { directory, baseUrls } = JSON.parse(line) as { directory: string; baseUrls: readonly string[] };
  await Promise.all(baseUrls.map((baseUrl) => turn(directory, baseUrl)));
  process.stdout.write("done\n");
}

async function turn(directory: string, baseUrl: string): Promise<void> {
  const messages: object[] = [
    { role: "system", content: "You are an agent." },
    { role: "user", content: "Go on." },
  ];
  for (;;) {
    const calls: ChatCall[] = [];
    let content = "";
    for await (const { choices } of chatChunks(baseUrl, { model: "bench", stream: true, messages, tools })) {
      content += choices[0]?.delta.content ?? "";
      calls.push(...(choices[0]?.delta.tool_calls ?? []));
    }
    messages.push({ role: "assistant", content, tool_calls: calls });
    if (calls.length === 0) return;
    const results = await Promise.all(calls.map((call) => act(directory, call)));
    messages.push(
      ...results.map((result, index) => ({ role: "tool", tool_call_id: calls[index]?.id, content: result })),
    );
  }
}

async function act(directory: string, call: ChatCall): Promise<string> {
  const args = JSON.parse(call.function.arguments) as Record<string, string>;
  const path = join(directory, args["file_path"] ?? "");
  switch (call.function.name) {
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
