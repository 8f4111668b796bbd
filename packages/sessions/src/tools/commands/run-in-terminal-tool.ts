import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { BuiltInTool, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { plainText } from "@gennai/machine/process/plain-text";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { CommandRun } from "@gennai/protocol/model/session/editor-requests";
import { z } from "zod";
import type { EditorBridge } from "../../bridge/session-bridge.ts";
import { withNotes } from "../command-output.ts";
import { requireEditor } from "../lost-editor.ts";

const terminalName = "Gennai Agent";

const parameters = z.strictObject({
  command: z.string().min(1, "command must not be empty.").max(30_000, "command is longer than 30,000 characters."),
  cwd: z.string().min(1).optional().describe("Directory to run in; the workspace by default."),
  reveal: z.boolean().optional().describe("Whether to bring the terminal to the front."),
  description: z.string().max(500).optional().describe("What it is for, in a few words."),
});

type TerminalArguments = z.infer<typeof parameters>;

export interface RunInTerminalPorts {
  readonly workspace: Workspace;
  readonly editor: EditorBridge;
  /** The user's home directory, for `~` in commands. */
  readonly home: string;
  /** Whether models are told of it; they may call it in any case. */
  readonly terminalTold?: boolean;
}

/** Runs a command in the user's own terminal, through an attached client. */
export function runInTerminalTool(ports: RunInTerminalPorts): BuiltInTool<TerminalArguments> {
  return {
    name: "RunInTerminal",
    description:
      "Runs a one-line command in the user's own terminal. " +
      "Only for what the user must see or answer, e.g. a login: Bash runs the rest. Its result may stay unknown.",
    parameters,
    ...(ports.terminalTold === false ? { shownTo: noModel } : {}),
    access: "change",

    async analyse(args) {
      refuseUntypeable(args.command);
      requireTerminal(ports.editor);
      const cwd = await ports.workspace.resolve(args.cwd ?? ".");
      const command = analyseCommand(args.command, {
        cwd: cwd.absolute,
        home: ports.home,
        workspace: ports.workspace.root,
      });
      return {
        statement: `Run \`${args.command}\` in the user's terminal`,
        effects: [{ type: "exec", command, cwd, where: "client" }],
        ...(args.description === undefined ? {} : { claim: args.description }),
      };
    },

    async execute(args, analysis, { signal, onOutput }) {
      const effect = analysis.effects.find((candidate) => candidate.type === "exec");
      if (effect === undefined) throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
      requireTerminal(ports.editor);
      const run = await ports.editor.runCommand(
        {
          command: effect.command.text,
          cwd: effect.cwd.absolute,
          terminalName,
          ...(args.reveal === undefined ? {} : { reveal: args.reveal }),
        },
        { signal, onOutput },
      );
      return outcomeOf(run);
    },

    async verify(_args, outcome) {
      if (outcome.exitCode === undefined) {
        return { state: "unverified", evidence: "The command was sent to the terminal; it is not known how it ended." };
      }
      const state = outcome.exitCode === 0 ? "verified" : "failed";
      return { state, evidence: `The terminal reported exit code ${outcome.exitCode}.` };
    },
  };
}

const noModel = /(?!)/;

/** Only the analysed command may be typed: throws for further lines or control keys. */
function refuseUntypeable(command: string): void {
  if (!/[\p{Cc}\u2028\u2029]/u.test(command)) return;
  throw new ToolFailure("bad_command", "A command for the terminal is one line without control characters.", {
    hint: "Join lines with && or ;, or write a script file and run that.",
  });
}

function requireTerminal(editor: EditorBridge): void {
  requireEditor(editor, "command", "run commands in a terminal", "Use Bash.");
}

function outcomeOf(run: CommandRun): ToolOutcome {
  const common = { truncated: run.truncated };
  if (run.state === "unobserved") {
    const note = "[the command was sent to the terminal; its result is unknown]";
    return { ...common, output: withNotes(plainText(run.output), [note]) };
  }
  if (run.exitCode === undefined) {
    return { ...common, output: withNotes(plainText(run.output), ["[ended; the exit code is unknown]"]) };
  }
  const message = `The command ended with exit code ${run.exitCode}.`;
  return {
    ...common,
    output: withNotes(plainText(run.output), [`[exit code ${run.exitCode}]`]),
    exitCode: run.exitCode,
    ...(run.exitCode === 0 ? {} : { failure: { failureClass: "command_error", message } }),
  };
}
