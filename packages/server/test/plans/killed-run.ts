import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { builtProgram } from "@gennai/testkit/built-program";

const program = builtProgram(new URL("killed-server.ts", import.meta.url));

/** The plan that ran when its server was killed. */
export interface KilledRun {
  readonly sessionId: string;
  readonly planId: string;
  readonly digest: string;
  readonly token: string;
}

/** Has a server run a plan, and kills it with SIGKILL in the plan's second step. Rejects when it ends before. */
export async function killedRun(stateDir: string, workspace: string): Promise<KilledRun> {
  const child = spawn(process.execPath, [program, stateDir, workspace], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString("utf8")));
  try {
    while (!existsSync(join(workspace, "begun"))) {
      if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`);
      await delay(20);
    }
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
  const [sessionId = "", planId = "", digest = "", token = ""] = output.trim().split(" ");
  return { sessionId, planId, digest, token };
}
