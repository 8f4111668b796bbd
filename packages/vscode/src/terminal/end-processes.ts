import { execFile } from "node:child_process";

/** Kills a process and everything that it started. Later children are found too, as long as their parents live. */
export async function endProcesses(pid: number): Promise<void> {
  // 0 and -1 mean all processes of a group, or of a user; the editor has -1 for a shell that never started.
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  for (const child of [...(await descendantsOf(pid)), pid]) {
    try {
      process.kill(child, "SIGKILL");
    } catch {
      // The process has ended by itself.
    }
  }
}

async function descendantsOf(pid: number): Promise<readonly number[]> {
  if (process.platform === "win32") return [];
  return descendantsIn(await processTable(), pid);
}

/** @param table lines of process id and parent id */
export function descendantsIn(table: string, pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const line of table.split("\n")) {
    const [own, parent] = line.trim().split(/\s+/).map(Number);
    if (own === undefined || parent === undefined || own === parent) continue;
    children.set(parent, [...(children.get(parent) ?? []), own]);
  }
  const found = new Set<number>();
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const child of children.get(next) ?? []) {
      if (found.has(child)) continue;
      found.add(child);
      open.push(child);
    }
  }
  return [...found];
}

function processTable(): Promise<string> {
  return new Promise((resolve) => {
    execFile("ps", ["-A", "-o", "pid=,ppid="], { maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => {
      resolve(error === null ? stdout : "");
    });
  });
}
