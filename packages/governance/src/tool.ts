import type { ToolName } from "@gennai/protocol/built-in-tools";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { ZodType } from "zod";
import type { AllowedEndpoint, Connection, RunProgram } from "./connection.ts";
import type { Effect } from "./effect.ts";
import type { Decision } from "./gate-journal.ts";
import type { ToolError } from "./tool-error.ts";

/**
 * A tool as the gate uses it. It never runs by itself: only the gate calls `analyse` and then `execute`, and passes it exactly
 * the effects that the policies saw.
 *
 * @typeParam Args arguments as parsed by `parameters`
 */
export interface Tool<Args = unknown> {
  readonly name: string;
  /** For the model. */
  readonly description: string;
  readonly parameters: ZodType<Args>;
  /** JSON Schema for the model instead of the one derived from `parameters`, for external tools. */
  readonly inputSchema?: Record<string, unknown>;
  /** Names that models give to its arguments, also within lists of objects, and what they are here. Looked at where a call does not fit. */
  readonly otherNames?: Readonly<Record<string, string>>;
  /** Converts arguments from a form that models know from other tools; leaves others unchanged. Used if a call does not fit. */
  otherShape?(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Other forms of its arguments, not announced to models; a call's form is recognised by its mark. */
  readonly otherForms?: readonly ArgumentsForm<Args>[];
  /** Models by their ids that are told about it, where only some were trained on it; all may call it. */
  readonly shownTo?: RegExp;
  /** One of very many: a model is told of it once it asked for it by `LoadTools`; all may call it. */
  readonly onRequest?: true;
  /** Another agent runs it by itself: `execute` lets it go on, and resolves when that agent says how it ended. */
  readonly runBy?: "host";
  /** Calls of `read` tools may run at the same time; `change` tools run one by one, in the model's order. */
  readonly access: "read" | "change";
  /** It changes nothing itself, so that it may run again if it is unknown whether it ran. */
  readonly repeatable?: true;
  /** It has what it did judged, and reports only what came of it into the workspace. */
  readonly judged?: true;
  /** Its analysis rests on what calls before it in the same answer have seen: it never runs beside them. */
  readonly alone?: true;
  /** Resolves what the call would do, touching nothing. Throws `ToolFailure` for input that cannot be right. */
  analyse(args: Args, context: CallContext): Promise<Analysis>;
  /** Does it. Throws `ToolFailure` for an expected failure; honours `context.signal`. */
  execute(args: Args, analysis: Analysis, context: ExecutionContext): Promise<ToolOutcome>;
  /** Looks at the world again for evidence that the outcome is real. Without it, the outcome is `unverified`. */
  verify?(args: Args, outcome: ToolOutcome, context: CallContext): Promise<Verification>;
  /**
   * What a model needs to correct a refused or failed call, besides the error; undefined if there is nothing to add. It may
   * quote files: the gate calls it only if every policy allows reading what the call would write, and masks the text.
   */
  explainRefusal?(
    args: Args,
    analysis: Analysis,
    error: Pick<ToolError, "code">,
    context: CallContext,
  ): Promise<string | undefined>;
}

/** A tool of ours: its row in `built-in-tools.ts` says what there is to know of it by its name alone. */
export interface BuiltInTool<Args = unknown> extends Tool<Args> {
  readonly name: ToolName;
}

/** A form of arguments, told by the name of one of them. */
export interface ArgumentsForm<Args> {
  readonly mark: string;
  readonly parameters: ZodType<Args>;
}

export interface Analysis {
  /** Plain statement of the action, e.g. `Edit src/main.ts`. */
  readonly statement: string;
  readonly effects: readonly Effect[];
  /**
   * The arguments in the words of what they speak of, where the model's were only nearly those, e.g. the text that an edit
   * really replaces. They are what is judged, asked and recorded; the model's own stay beside them in the record.
   */
  readonly args?: unknown;
  /** The model's own words about it, if it gave any: a claim, never evidence. */
  readonly claim?: string;
  /** What the action depends on besides its arguments, by name, e.g. hashes of scripts it runs; part of what is approved. */
  readonly operands?: Readonly<Record<string, string>>;
  /** The effects have happened on a stage, and are kept or dropped: a yes to the call itself does not cover them. */
  readonly done?: true;
  /** Raises the risk for what no effect says, e.g. that the agent would be allowed more. It never lowers it. */
  readonly risk?: Risk;
}

export interface CallContext {
  readonly callId: string;
  readonly turnId: string;
  readonly signal: AbortSignal;
  /** Id of the call under which its output is shown; default: its own. */
  readonly shownAs?: string;
}

export interface ExecutionContext extends CallContext {
  /** Live output, e.g. of a command; the gate redacts it before anyone sees it. */
  onOutput(text: string): void;
  /**
   * Judges the call's staged changes, by every policy, and asks a user if one of them asks. What may be kept is recorded when
   * this resolves; then the tool applies or drops it. Rejects when the signal aborts.
   */
  judge(found: Found): Promise<Judgement>;
  /** The agent that calls has a tool of this name. */
  hasTool(name: string): boolean;
  /** A person said yes to this call. */
  readonly confirmed: boolean;
  readonly network: NetworkPermission;
}

/** A call's network permissions. */
export interface NetworkPermission {
  /** What lasting answers allow a program to reach; never asks. */
  standing(program: RunProgram): Promise<readonly AllowedEndpoint[]>;
  /**
   * Judges what a command wants to reach, by every policy, and asks a person about what no standing answer covers. What is let
   * through is recorded when this resolves. Rejects when the signal aborts.
   */
  letThrough(wanted: WantedConnections): Promise<ConnectionJudgement>;
  /** For the record, each once: what was reached with a login is durable when this resolves, the rest with the end of the call. */
  reached(connections: readonly Connection[]): Promise<void>;
}

export interface WantedConnections {
  readonly program: RunProgram;
  /** At least one; each once. */
  readonly endpoints: readonly AllowedEndpoint[];
  /** The command runs in the background: the way is open until it ends. */
  readonly lasts?: boolean;
  /** The question is over when it aborts: the run that waited for the answer is gone. */
  readonly until?: AbortSignal;
  /** Answered earlier, and only checked again: if refused now, the command runs without them, and may not need them. */
  readonly stand?: boolean;
}

export type ConnectionJudgement =
  | { readonly type: "let-through"; readonly allowed: readonly AllowedEndpoint[] }
  /** `decision`: for the record of the call. */
  | { readonly type: "refused"; readonly error: ToolError; readonly decision: Decision };

/** Changes of a call that are not visible yet. */
export interface Found {
  /** Plain statement of what is to be kept, e.g. "Keep what `npm test` changed: 3 files". */
  readonly statement: string;
  /** All of it, by what can be kept without the rest. */
  readonly parts: readonly FoundPart[];
  /** The intended result of the parts, by name, e.g. a digest of all; part of what is approved. */
  readonly operands: Readonly<Record<string, string>>;
  /** For a person who is asked: what changes in files, as a unified diff. Called at most once, and before anything is kept. */
  diff?(): string;
}

/** A unit that is kept or dropped as a whole, e.g. one file, or everything in git. */
export interface FoundPart {
  /** Digest of its result, lower-case hex. */
  readonly id: string;
  /** Name for users, e.g. `src/main.ts`. */
  readonly name: string;
  readonly effects: readonly Effect[];
  /** Ids of parts that must be kept together with this one. */
  readonly needs: readonly string[];
}

export type Judgement =
  /** `dropped`: the parts that a person did not want or nobody agreed to, and those that need them. */
  | { readonly type: "keep"; readonly dropped: readonly FoundPart[] }
  /** Why nothing of it may be kept. */
  | { readonly type: "drop"; readonly error: ToolError };

export interface ToolOutcome {
  /** Text for the model, before redaction. */
  readonly output: string;
  /** Images for a model with vision, after the output. Not masked: text in pixels is not recognised. */
  readonly images?: readonly ShownImage[];
  /** True when `output` is not all there was. */
  readonly truncated?: boolean;
  /** Set when the tool ran and failed, e.g. a command with a non-zero exit. */
  readonly failure?: { readonly failureClass: FailureClass; readonly message: string };
  readonly exitCode?: number;
  /** Names of changes that were not kept, without the user's yes; the rest was kept. */
  readonly dropped?: readonly string[];
  /** Files that changed on disk. */
  readonly changes?: readonly FileChange[];
  /** What makes them durable, where the tool did not wait for it: awaited before the outcome is recorded. */
  readonly later?: readonly Promise<unknown>[];
  /** Its changes are not in the workspace, but on what is staged in its place: no record has them. */
  readonly apart?: true;
  /** Of the workspace's repository. */
  readonly refs?: readonly RefMove[];
  /** Files whose content the model has now seen, or whose state the tool left behind. */
  readonly observed?: readonly ObservedFile[];
  /** Facts for the session's log, e.g. a proposal; the session understands them, the gate does not. */
  readonly facts?: readonly unknown[];
}

export interface ShownImage {
  readonly bytes: Uint8Array;
  /** E.g. `image/png`. */
  readonly mediaType: string;
}

/**
 * A ref that moved; or HEAD, whose value is `ref: NAME` on a branch; or `:PATH`, an entry of the index, whose value is `MODE OBJECT`.
 * Without `from` or `to`, it was not there.
 */
export interface RefMove {
  readonly name: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface FileChange {
  /** Relative to the workspace. */
  readonly path: string;
  readonly operation: "create" | "update" | "delete";
  readonly beforeSha256: string | undefined;
  readonly afterSha256: string | undefined;
  /** The changed blocks in the new text; empty for a delete. */
  readonly blocks: readonly ChangedBlock[];
}

export interface ChangedBlock {
  /** 1-based, inclusive. */
  readonly startLine: number;
  readonly endLine: number;
  /** SHA-256 of the block's text, so that moved code keeps its identity. */
  readonly sha256: string;
}

export interface ObservedFile {
  readonly path: string;
  readonly source: "disk" | "buffer";
  /** undefined: the file is gone, or has to be read before it is changed again. */
  readonly sha256: string | undefined;
  /** The model was shown its lines with their numbers. */
  readonly numbered?: true;
}

export interface Verification {
  readonly state: "verified" | "unverified" | "failed";
  /** What was checked, in one sentence. */
  readonly evidence: string;
}
