import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { startTestServer } from "@gennai/testkit/test-server";
import * as z from "zod";
import type { VerdictType } from "./checks/commands/commands.ts";
import { type CommandFixture, commandFixture } from "./command-fixture.ts";
import { type CorpusCase, loadCases } from "./corpus-case.ts";

/** An agent in whose words a case is told to the gate. */
export interface TriedHost {
  readonly id: string;
  /** Its user is there, so that a question is one. Where not, it is a refusal. */
  readonly asks: boolean;
  before(call: Call, directory: string, id: string): object;
  idle(): object;
  verdict(answer: object | undefined): VerdictType;
}

/** What an agent would do. */
export type Call =
  | { readonly type: "command"; readonly command: string }
  | { readonly type: "write"; readonly path: string };

const hookAnswer = z.looseObject({
  hookSpecificOutput: z.looseObject({ permissionDecision: z.enum(["ask", "deny"]) }),
});
const permission = z.looseObject({ permissionDecision: z.enum(["ask", "deny"]) });
const decision = z.looseObject({ decision: z.enum(["ask", "deny", "stop"]) });

/** Of agents with hooks in settings. */
const hooks = (
  id: string,
  asks: boolean,
  write: (path: string) => { tool_name: string; tool_input: object },
): TriedHost => ({
  id,
  asks,
  before: (call, cwd, tool_use_id) => ({
    session_id: "corpus",
    cwd,
    hook_event_name: "PreToolUse",
    tool_use_id,
    ...(call.type === "command" ? { tool_name: "Bash", tool_input: { command: call.command } } : write(call.path)),
  }),
  idle: () => ({ session_id: "corpus", hook_event_name: "Stop" }),
  verdict: (answer) =>
    answer === undefined ? "allow" : hookAnswer.parse(answer).hookSpecificOutput.permissionDecision,
});

/** Of agents with a plugin of ours. */
const plugin = (id: string, asks: boolean, write: (path: string) => object): TriedHost => ({
  id,
  asks,
  before: (call, directory, callId) => ({
    event: "before",
    session: "corpus",
    call: callId,
    directory,
    asks,
    tool: call.type === "command" ? "bash" : "write",
    args: call.type === "command" ? { command: call.command } : write(call.path),
  }),
  idle: () => ({ event: "idle", session: "corpus" }),
  verdict: decided,
});

function decided(answer: object | undefined): VerdictType {
  if (answer === undefined) return "allow";
  return decision.parse(answer).decision === "ask" ? "ask" : "deny";
}

const copilot: TriedHost = {
  id: "copilot",
  asks: true,
  before: (call, cwd) => ({
    sessionId: "corpus",
    cwd,
    ...(call.type === "command"
      ? { toolName: "bash", toolArgs: { command: call.command } }
      : { toolName: "create", toolArgs: { path: call.path, file_text: "x\n" } }),
  }),
  idle: () => ({ sessionId: "corpus", reason: "complete" }),
  verdict: (answer) => (answer === undefined ? "allow" : permission.parse(answer).permissionDecision),
};

const gemini: TriedHost = {
  id: "gemini",
  asks: false,
  before: (call, cwd) => ({
    session_id: "corpus",
    cwd,
    hook_event_name: "BeforeTool",
    ...(call.type === "command"
      ? { tool_name: "run_shell_command", tool_input: { command: call.command } }
      : { tool_name: "write_file", tool_input: { file_path: call.path, content: "x\n" } }),
  }),
  idle: () => ({ session_id: "corpus", hook_event_name: "AfterAgent" }),
  verdict: decided,
};

export const triedHosts: readonly TriedHost[] = [
  hooks("claude-code", true, (file_path) => ({ tool_name: "Write", tool_input: { file_path, content: "x\n" } })),
  hooks("codex", false, (path) => ({
    tool_name: "apply_patch",
    tool_input: { command: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n` },
  })),
  copilot,
  gemini,
  plugin("opencode", false, (filePath) => ({ filePath, content: "x\n" })),
  plugin("pi", true, (path) => ({ path, content: "x\n" })),
];

/** Cases that are a command, or a write of one file. */
export interface GuardedCase {
  readonly id: string;
  readonly required: string;
  readonly isAttack: boolean;
  readonly call: Call;
}

export function guardedCases(): readonly GuardedCase[] {
  return loadCases().flatMap((each): readonly GuardedCase[] => {
    const { id, required, group, input } = each;
    const isAttack = !group.startsWith("benign.") && required !== "ALLOW";
    if (/^(?:shell|benign)\./.test(group)) {
      return [{ id, required, isAttack, call: { type: "command", command: input } }];
    }
    const path = writtenBy(each);
    return path === undefined ? [] : [{ id, required, isAttack, call: { type: "write", path } }];
  });
}

function writtenBy({ group, input }: CorpusCase): string | undefined {
  if (group !== "selfprotect") return undefined;
  return /^write: ([\w./-]*\.[\w./-]*\w)$/.exec(input)?.[1];
}

/** How a host's user is served by what the gate answers. */
export interface GuardedGate extends AsyncDisposable {
  verdict(host: TriedHost, call: Call): Promise<VerdictType>;
}

/** A server whose gate judges calls in the workspace of the corpus; nothing is run. */
export async function guardedGate(): Promise<GuardedGate> {
  await using parts = new AsyncDisposableStack();
  const fixture: CommandFixture = parts.use(await commandFixture());
  // Without intents, and on a branch that nothing protects: else these would refuse all that changes something, and no other rule be tried.
  rmSync(join(fixture.root, ".orchestration"), { recursive: true });
  execFileSync("git", ["checkout", "--quiet", "-b", "work"], { cwd: fixture.root });
  const server = parts.use(await startTestServer());
  const { governance } = server;
  const tell = async (host: TriedHost, payload: object) => {
    const { answer } = await governance.guardCall({
      host: host.id,
      workingDir: fixture.root,
      payload: JSON.parse(JSON.stringify(payload)),
    });
    return answer;
  };
  let told = 0;
  const held = parts.move();
  return {
    async verdict(host, call) {
      told += 1;
      const placed: Call =
        call.type === "command"
          ? { type: "command", command: fixture.placed(call.command) }
          : { type: "write", path: call.path };
      const answer = await tell(host, host.before(placed, fixture.root, `c${told}`));
      const verdict = host.verdict(answer);
      // Nobody ever says how one ended that was let go on.
      if (verdict !== "deny") await tell(host, host.idle());
      return verdict;
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Refused only because of an intent's scope: there is none here, so a question is sufficient. */
const deniedByScope: ReadonlySet<string> = new Set(["SHX-048"]);

/** Whether the verdict is acceptable. Everyday commands may be asked about, because nothing is staged. */
export function mayCome(verdict: VerdictType, { id, required, isAttack }: GuardedCase): boolean {
  if (!isAttack) return true;
  return required === "DENY" && !deniedByScope.has(id) ? verdict === "deny" : verdict !== "allow";
}
