import * as z from "zod";
import type { Answer, Question } from "#confirmation";
import { RememberedAnswers } from "#gate/confirm/remembered-answers";
import { governTools } from "#gate/gate";
import type { GateOptions } from "#gate/gate-options";
import type { Decision, GateJournal } from "#gate-journal";
import type { Tool } from "#tool";
import { ToolFailure } from "#tool-error";
import { allow, type Verdict } from "#verdict";

const path = { raw: "a.txt", relative: "a.txt", absolute: "/ws/a.txt", inside: true };
/** What a rule says in these tests. */
export const finding = { code: "no", rule: "test/rule", reason: "Because." };

/** A gate, and everything it did, in order. */
export interface GateFixture {
  readonly gate: ReturnType<typeof governTools>;
  readonly run: (
    name: string,
    args?: unknown,
    signal?: AbortSignal,
  ) => ReturnType<ReturnType<typeof governTools>["run"]>;
  readonly steps: readonly string[];
  readonly decisions: readonly Decision[];
  readonly questions: readonly Question[];
  readonly options: GateOptions;
}

/** A gate over one reading and one changing tool, and one that wants to run alone. */
export function gateWith(
  overrides: Partial<GateOptions> & { readonly verdicts?: readonly Verdict[]; readonly answer?: Answer } = {},
): GateFixture {
  const steps: string[] = [];
  const decisions: Decision[] = [];
  const questions: Question[] = [];
  const tool = (name: string, access: "read" | "change"): Tool<{ value?: string | undefined }> => ({
    name,
    description: name,
    access,
    parameters: z.strictObject({ value: z.string().optional() }),
    async analyse(args) {
      if (args.value === "unanalysable") throw new ToolFailure("bad_path", "No such thing.", { retryable: true });
      if (args.value === "quotes")
        throw new ToolFailure("no_match", "Not there: secret", { hint: "The file has secret." });
      return {
        statement: `${name} a.txt`,
        ...(args.value === "nearly" ? { args: { value: "exactly" } } : {}),
        effects:
          access === "read"
            ? [{ type: "read", path }]
            : [{ type: "write", operation: "update", path, base: undefined, current: undefined }],
      };
    },
    async execute(args) {
      steps.push(`execute ${name}`);
      if (args.value === "throws") throw new Error("boom");
      if (args.value === "has a broken disk") {
        throw Object.assign(new Error("EIO: i/o error, open '/boom'"), { code: "EIO" });
      }
      if (args.value === "quotes late") throw new ToolFailure("io_error", "Late: secret", { hint: "It has secret." });
      if (args.value === "fails") throw new ToolFailure("stale_file", "Stale File: a.txt", { retryable: true });
      if (args.value === "halves") return { output: "a \ud83d b \ude00 \u{1f600}" };
      return { output: `done secret ${args.value ?? ""}` };
    },
  });
  const tools = new Map<string, Tool>([
    ["Look", tool("Look", "read")],
    ["Change", tool("Change", "change")],
    ["Alone", { ...tool("Alone", "read"), alone: true }],
  ]);
  const verdicts = [...(overrides.verdicts ?? [allow])];
  const journal: GateJournal = {
    decided: (decision) => void decisions.push(decision),
    begin: async (begun) => void steps.push(`begin ${begun.map(({ call }) => call.id).join("+")}`),
    end: async (ended) => {
      steps.push(
        `end ${ended.map(({ result }) => `${result.call.id}:${result.outcome === undefined ? "refused" : "ran"}`).join("+")}`,
      );
    },
    reached: async () => undefined,
    output: () => undefined,
    warn: (text) => void steps.push(`warn ${text}`),
  };
  const options: GateOptions = {
    sessionId: "s",
    tools,
    policies: [
      {
        name: "scripted",
        kind: "guard",
        decide: () => (verdicts.length > 1 ? (verdicts.shift() ?? allow) : (verdicts[0] ?? allow)),
      },
    ],
    confirmer: {
      ask: async (question) => {
        questions.push(question);
        steps.push("ask");
        return overrides.answer ?? { type: "yes", scope: "once", by: "user" };
      },
    },
    journal,
    redactor: {
      redact: async (text) => text.replaceAll("secret", "[REDACTED:test]"),
      stream: () => ({ push: async (text) => text, end: async () => "" }),
    },
    remembered: new RememberedAnswers(),
    policySha256: "p",
    policyTimeoutMs: 50,
    now: () => 0,
    ...overrides,
  };
  const gate = governTools(options);
  const run = (name: string, args: unknown = {}, signal = new AbortController().signal) =>
    gate.run([{ id: "c1", name, argumentsJson: typeof args === "string" ? args : JSON.stringify(args) }], {
      turnId: "t",
      signal,
    });
  return { gate, run, steps, decisions, questions, options };
}
