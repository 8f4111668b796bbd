import { analyseCommand } from "#command/analyse-command";
import type { Effect, FileWrite, WorkspacePath } from "#effect";
import type { Policy, PolicyInput } from "#policy";
import type { Verdict } from "#verdict";

/** A path of the workspace `/ws` that resolves to itself. */
export function inside(relative: string, raw = relative): WorkspacePath {
  return { raw, relative, absolute: `/ws/${relative}`, inside: true };
}

export function outside(absolute: string, raw = absolute): WorkspacePath {
  return { raw, relative: "", absolute, inside: false };
}

export function write(path: WorkspacePath, more: Partial<FileWrite> = {}): FileWrite {
  return { type: "write", operation: "update", path, base: undefined, current: undefined, ...more };
}

export function exec(command: string): Effect {
  return {
    type: "exec",
    command: analyseCommand(command, { cwd: "/ws", home: "/home/dev" }),
    cwd: { raw: ".", relative: "", absolute: "/ws", inside: true },
    where: "server",
  };
}

export async function decide(policy: Policy, ...effects: readonly Effect[]): Promise<Verdict> {
  return policy.decide(inputWith({ analysis: { statement: "Test", effects } }), {
    signal: new AbortController().signal,
  });
}

/** `allow`, or the verdict with its code, e.g. `deny outside_workspace`. */
export function summary(verdict: Verdict): string {
  return verdict.type === "allow" ? "allow" : `${verdict.type} ${verdict.finding.code}`;
}

/** A call, as policies are told about it. */
export function inputWith(more: Partial<PolicyInput>): PolicyInput {
  return {
    callId: "c",
    toolName: "test",
    args: {},
    access: "change",
    analysis: { statement: "", effects: [] },
    sessionId: "s",
    turnId: "t",
    ...more,
  };
}
