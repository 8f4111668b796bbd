import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Risk, riskFromMessage, riskWords } from "@gennai/protocol/model/governance/risk";
import {
  ConfirmationAnswer,
  type ConfirmationRequest,
  type ConfirmationRequestSchema,
  ConfirmationScope as ScopeMessage,
} from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";

export const scopeWords = new EnumWords({
  once: ScopeMessage.ONCE,
  turn: ScopeMessage.TURN,
  session: ScopeMessage.SESSION,
  workspace: ScopeMessage.WORKSPACE,
});

/**
 * How long a yes lasts. High risk is only ever answered `once`; `workspace` is for every later session as well, and is
 * offered only where the action is bound to all that it is known to run.
 */
export type ConfirmationScope = (typeof scopeWords.words)[number];

/** What a person answered, or that a client could ask nobody. */
export const answerWords = new EnumWords({
  yes: ConfirmationAnswer.YES,
  no: ConfirmationAnswer.NO,
  nobody: ConfirmationAnswer.NOBODY,
});

/** The one question that all asks of a call become, as the person who answers sees it. */
export interface Question {
  readonly callId: string;
  readonly title: string;
  /** Which intent the action serves, or that none is selected. */
  readonly intentReflection: string;
  readonly actionStatement: string;
  /** The same without secrets, for places where others may look; absent where nobody masked it. */
  readonly maskedStatement?: string;
  /** Empty when there is nothing to add. */
  readonly impactStatement: string;
  /** The model's own words: a claim, to be shown apart from what was computed. */
  readonly modelClaim: string;
  readonly computed: {
    readonly risk: Risk;
    readonly paths: readonly string[];
    readonly rule: string;
    readonly reason: string;
    readonly policySha256: string;
  };
  /** Canonical JSON of the exact action, unredacted: who approves sees all of it. */
  readonly actionJson: string;
  readonly actionSha256: string;
  /** What would be kept, as a unified diff, shortened; absent for an action that has not run yet. */
  readonly diff?: string;
  /** What of it can be kept without the rest; absent where there is no choice. */
  readonly parts?: readonly OfferedPart[];
  /** What a yes for longer than once would be remembered for; empty where only once is offered. */
  readonly rememberStatement: string;
  readonly offeredScopes: readonly ConfirmationScope[];
  /** What a yes for a turn or the session may be remembered for besides the exact action; absent where nothing is offered. */
  readonly patterns?: readonly OfferedPattern[];
}

/** A narrow class of actions, with what it would have let pass and what it would let pass. */
export interface OfferedPattern {
  /** Digest of all that the pattern is bound to. The answer names it. */
  readonly id: string;
  /** The exact pattern, e.g. `rm src/*.ts`. */
  readonly text: string;
  /** The rule, or rules, whose question it answers. */
  readonly rule: string;
  /** Earlier actions of this session that it covers. */
  readonly matchedBefore: readonly string[];
  /** Examples: covered if risk and rule are the same. */
  readonly wouldMatch: readonly string[];
  /** Examples that are never covered. */
  readonly wouldNotMatch: readonly string[];
}

/** What a command has changed that is kept or dropped as a whole, e.g. a file. */
export interface OfferedPart {
  /** Digest of the part's result. The answer lists the ids of parts not to keep. */
  readonly id: string;
  /** As people read it, e.g. `src/main.ts`. */
  readonly name: string;
  /** The rule that asks about it; empty for what needs no question. */
  readonly rule: string;
  readonly reason: string;
  /** Ids of parts without which it is not kept. */
  readonly needs: readonly string[];
}

/** The last line of a diff that is shortened. @param files number that it shows not at all, or by name only for their size */
export function notShown(files: number): string {
  return `${files} more ${files === 1 ? "file is" : "files are"} not shown here.\n`;
}

/** Whether all that a yes would keep is in the diff. */
export function showsAll(diff: string): boolean {
  return !/\d+ more files? (?:is|are) not shown here\.\n$/.test(diff);
}

/** What a question says besides its action, for clients that show it as text; without what is empty. */
export function explanationsOf({ impactStatement, intentReflection }: Question) {
  const explanations = [
    { name: "impact", text: impactStatement },
    { name: "intent", text: intentReflection },
  ];
  return explanations.filter(({ text }) => text !== "");
}

/** Fields of the same name and type go as they are. */
export function questionToMessage(question: Question): MessageInitShape<typeof ConfirmationRequestSchema> {
  const { callId, computed, offeredScopes, patterns = [], parts = [], ...texts } = question;
  return {
    ...texts,
    toolCallId: callId,
    computed: { ...computed, risk: riskWords.toMessage(computed.risk), paths: [...computed.paths] },
    offeredScopes: offeredScopes.map((scope) => scopeWords.toMessage(scope)),
    parts: parts.map((part) => ({ ...part, needs: [...part.needs] })),
    patterns: patterns.map((pattern) => ({
      ...pattern,
      matchedBefore: [...pattern.matchedBefore],
      wouldMatch: [...pattern.wouldMatch],
      wouldNotMatch: [...pattern.wouldNotMatch],
    })),
  };
}

/** Scopes that are not known here are not offered. */
export function questionFromMessage(message: ConfirmationRequest): Question {
  return {
    callId: message.toolCallId,
    title: message.title,
    intentReflection: message.intentReflection,
    actionStatement: message.actionStatement,
    ...(message.maskedStatement === "" ? {} : { maskedStatement: message.maskedStatement }),
    impactStatement: message.impactStatement,
    modelClaim: message.modelClaim,
    computed: {
      risk: riskFromMessage(message.computed?.risk),
      paths: message.computed?.paths ?? [],
      rule: message.computed?.rule ?? "",
      reason: message.computed?.reason ?? "",
      policySha256: message.computed?.policySha256 ?? "",
    },
    actionJson: message.actionJson,
    actionSha256: message.actionSha256,
    rememberStatement: message.rememberStatement,
    offeredScopes: message.offeredScopes.flatMap((scope) => scopeWords.fromMessage(scope) ?? []),
    ...(message.diff === "" ? {} : { diff: message.diff }),
    ...(message.parts.length === 0
      ? {}
      : { parts: message.parts.map(({ id, name, rule, reason, needs }) => ({ id, name, rule, reason, needs })) }),
    patterns: message.patterns.map(({ id, text, rule, matchedBefore, wouldMatch, wouldNotMatch }) => {
      return { id, text, rule, matchedBefore, wouldMatch, wouldNotMatch };
    }),
  };
}
