import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { builtProgram } from "@gennai/testkit/built-program";

const program = builtProgram(new URL("serving-process.ts", import.meta.url));
/** Of every server that is started here. */
export const token = "t".repeat(43);

export interface ServingChild {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Starts a server in a process of its own. Resolves when it listens. */
export async function servingChild(options: {
  readonly port: number;
  readonly script: string;
  readonly stateDir: string;
  readonly workspace: string;
  readonly commands?: "staged" | "ask";
}): Promise<ServingChild> {
  const child = spawn(process.execPath, [program, JSON.stringify({ commands: "ask", ...options, token })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await Promise.race([
    once(child.stdout, "data").then(([chunk]) => String(chunk)),
    once(child, "exit").then(() => Promise.reject(new Error("The server did not start."))),
  ]);
  return { child, port: Number(line) };
}
