import type { ChildProcessByStdio } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";

/** What Claude Code tells its hook of a call. */
export function hookCall(cwd: string, tool_name: string, tool_input: object): string {
  const tool_use_id = `t${Math.random()}`;
  return JSON.stringify({ session_id: "s", cwd, hook_event_name: "PreToolUse", tool_use_id, tool_name, tool_input });
}

/** What a program makes of its input. */
export async function given(child: ChildProcessByStdio<Writable, Readable, Readable>, input: string) {
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [printed, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, printed, complained };
}

/** Says that a server runs. @returns where its socket has to be */
export function announce(stateDir: string, port = 1, pid?: number, workspace = "/"): string {
  mkdirSync(join(stateDir, "servers"), { recursive: true, mode: 0o700 });
  const said = JSON.stringify({ token: "t", pid, workspace }, undefined, 2);
  writeFileSync(join(stateDir, `servers/${port}.json`), said, { mode: 0o600 });
  return join(stateDir, `servers/${port}.sock`);
}

/** Something that listens where a server is announced. @param answer to everything; undefined: none, and the connection stays */
export async function answering(stateDir: string, answer: string | undefined) {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.on("error", () => undefined);
    socket.once("data", () => answer !== undefined && socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(announce(stateDir), resolve));
  return { asked: () => asked, [Symbol.dispose]: () => void server.close() };
}
