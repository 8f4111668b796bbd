import { bash, call } from "@gennai/testkit/scripted-steps";

const rule = { name: "no-rm", pattern: "^rm", reason: "Ask first.", ask: true };

/** What lies in the repository that the scenes work on. */
export const files: Readonly<Record<string, string>> = {
  "a.txt": "one\n",
  ".gennai/rules.yaml": JSON.stringify({ bashToolPatterns: [rule] }),
};

/** What the scripted model does. */
export const turns: readonly object[] = [
  {
    match: "^make it two",
    steps: [
      call("Read", { file_path: "a.txt" }),
      call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }),
      { text: ["Done."] },
    ],
  },
  { match: "^delete it", steps: [bash("rm a.txt"), { text: ["Asked."] }] },
  { match: "^wait", steps: [bash("echo begun; sleep 600"), { text: ["Never."] }] },
];

/** One run of acpx, in this order, in one repository. */
export interface Scene {
  /** Of the file that its messages are recorded in. */
  readonly name: "edit" | "refused" | "allowed" | "cancelled";
  readonly prompt: string;
  /** acpx's own answer to every question. */
  readonly permissions: "--approve-all" | "--deny-all";
  /** A prompt by itself, in a session that ends with it; without it, in one that each run opens again. */
  readonly once?: true;
  /** Stopped by a second run of acpx when the agent has said this. */
  readonly cancelAfter?: string;
  /** The file after it; undefined: it is gone. */
  readonly left: string | undefined;
}

export const scenes: readonly Scene[] = [
  { name: "edit", prompt: "make it two", permissions: "--approve-all", once: true, left: "two\n" },
  { name: "refused", prompt: "delete it", permissions: "--deny-all", left: "two\n" },
  { name: "allowed", prompt: "delete it", permissions: "--approve-all", left: undefined },
  { name: "cancelled", prompt: "wait for it", permissions: "--approve-all", cancelAfter: "begun", left: undefined },
];

/** The commands that the agent is, of a scripted model. */
export function agentArguments(program: string, script: string): readonly string[] {
  return [program, "acp", "--server", "own", "--backend", "scripted", "--model", script];
}
