import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const source = fileURLToPath(new URL("../../src/network/listen-inside.ts", import.meta.url));

/** Asks for two sockets, in the network that it is in, and never takes what comes back, since it stops once it has asked. */
const holder = `
const { listenInside } = await import(${JSON.stringify(source)});
const at = { address: "127.0.0.1", port: 0 };
void listenInside({ joinArguments: [] }, { tcp: [at, at], accept: () => undefined });
console.log("asked");
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
`;

test.runIf(process.platform === "linux")(
  "the program that opens sockets ends with a process that is killed",
  async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", holder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += String(chunk)));
    await expect.poll(() => said).toContain("asked");
    const [opener = 0] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ").map(Number);
    // It waits for what it opened to be taken.
    await expect.poll(() => listening(opener)).not.toEqual([]);
    child.kill("SIGKILL");
    await expect.poll(() => existsSync(`/proc/${opener}`)).toBe(false);
  },
);

/** Descriptors of a process at which it listens. */
function listening(id: number): readonly string[] {
  const table = readFileSync(`/proc/${id}/net/tcp`, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const listeners = new Set(table.filter(([, , , state]) => state === "0A").map((row) => `socket:[${row[9]}]`));
  return readdirSync(`/proc/${id}/fd`).filter((name) => listeners.has(linkAt(`/proc/${id}/fd/${name}`)));
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return "";
  }
}
