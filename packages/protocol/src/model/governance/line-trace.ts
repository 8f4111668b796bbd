import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  LineMatch,
  type TraceCallResponse,
  type TraceCallResponseSchema,
  type TracedWrite as TracedWriteMessage,
  type TracedWriteSchema,
  type TraceLinesResponse,
  type TraceLinesResponseSchema,
  UnknownLine,
  VerificationState,
  WriteDecisionKind,
  type WriteDecision as WriteDecisionMessage,
  type WriteDecisionSchema,
} from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";
import { verificationWords } from "./tool-outcome.ts";

/** How a line was found among what recorded calls wrote. */
const lineMatchWords = new EnumWords({
  "same-file": LineMatch.SAME_FILE,
  "same-lines": LineMatch.SAME_LINES,
  formatted: LineMatch.FORMATTED,
  rewrapped: LineMatch.REWRAPPED,
  "block-hash": LineMatch.BLOCK_HASH,
});

/** Why it is not known who wrote a line. */
const unknownLineWords = new EnumWords({
  outside: UnknownLine.OUTSIDE,
  ambiguous: UnknownLine.AMBIGUOUS,
  "not-recorded": UnknownLine.NOT_RECORDED,
});

/** Bytes of UTF-8 of a text that may be asked about. */
export const mostTracedBytes = 500 * 1024;

/** Why a write was let happen. */
export type WriteDecision =
  /** No rule asked. `rule`: the one that let it through, empty when none had to. */
  | { readonly type: "allowed"; readonly rule: string }
  /** A person said yes. */
  | { readonly type: "approved"; readonly rule: string; readonly by: string; readonly scope: string }
  /** A person kept it in the review of a proposal; the counts are of hunks of the whole proposal. */
  | {
      readonly type: "reviewed";
      readonly proposalId: string;
      readonly kept: number;
      readonly refused: number;
      readonly edited: number;
    }
  /** The call belonged to a plan that a person approved. */
  | { readonly type: "planned"; readonly step: string; readonly rule: string }
  /** A person did it: took changes back, or put files in their place. */
  | { readonly type: "person" }
  /** Who handed it on chose not to say; or a newer server has a word for it that is not known here. */
  | { readonly type: "untold" };

/** The ledger's data about one written file, as far as clients get it. */
export interface TracedWrite {
  /** Of the record in its ledger, from 1. */
  readonly seq: number;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly path: string;
  readonly sessionId: string;
  /** Empty for what a person did between turns. */
  readonly turnId: string;
  readonly call: { readonly id: string; readonly tool: string } | undefined;
  /** Empty when the record does not name one. */
  readonly model: string;
  /** Another agent whose call was judged here, e.g. `claude-code`; undefined for our own. */
  readonly agent: string | undefined;
  /** The intent that was worked under, e.g. `INT-001`; undefined: none was selected. */
  readonly intent: string | undefined;
  readonly decision: WriteDecision;
  /** `untold`: who handed it on chose not to say. */
  readonly verification: "verified" | "unverified" | "failed" | "untold";
  readonly beforeSha256: string | undefined;
  readonly afterSha256: string | undefined;
}

/** Whose consecutive lines are. */
export type TracedOrigin =
  | {
      readonly type: "recorded";
      readonly write: TracedWrite;
      readonly method: (typeof lineMatchWords.words)[number];
      /** 0 to 1. */
      readonly confidence: number;
    }
  | {
      readonly type: "unknown";
      readonly reason: (typeof unknownLineWords.words)[number];
      readonly candidates: readonly TracedWrite[];
    };

export interface TracedRun {
  /** From 1. */
  readonly firstLine: number;
  readonly lineCount: number;
  readonly origin: TracedOrigin;
}

/** Whether what the answers rest on is as it was signed: `ok`, or what is wrong. */
export interface LedgerTrust {
  readonly status: string;
  readonly message: string;
}

export interface LineTrace {
  readonly trust: LedgerTrust;
  /** In the order of the text, without gaps. */
  readonly runs: readonly TracedRun[];
}

/** Present places of lines that a call wrote. */
export interface CallTrace {
  readonly trust: LedgerTrust;
  /** Lines that the records say it wrote. */
  readonly written: number;
  readonly files: readonly {
    readonly path: string;
    /** False: it is gone, or could not be looked into. */
    readonly readable: boolean;
    readonly spans: readonly { readonly firstLine: number; readonly lineCount: number }[];
  }[];
}

export function lineTraceToMessage({ trust, runs }: LineTrace): MessageInitShape<typeof TraceLinesResponseSchema> {
  const numbers = new Map<TracedWrite, number>();
  const numberOf = (write: TracedWrite): number => {
    const number = numbers.get(write) ?? numbers.size;
    numbers.set(write, number);
    return number;
  };
  const lines = runs.map(({ firstLine, lineCount, origin }) =>
    origin.type === "recorded"
      ? {
          firstLine,
          lineCount,
          write: numberOf(origin.write),
          match: lineMatchWords.toMessage(origin.method),
          confidence: origin.confidence,
        }
      : {
          firstLine,
          lineCount,
          unknown: unknownLineWords.toMessage(origin.reason),
          candidates: origin.candidates.map(numberOf),
        },
  );
  return { trust: { ...trust }, lines, writes: [...numbers.keys()].map(writeToMessage) };
}

/** What has no meaning here is read as not known. */
export function lineTraceFromMessage({ trust, lines, writes }: TraceLinesResponse): LineTrace {
  const known = writes.map(writeFromMessage);
  return {
    trust: { status: trust?.status ?? "", message: trust?.message ?? "" },
    runs: lines.map(({ firstLine, lineCount, write, match, confidence, unknown, candidates }) => {
      const found = write === undefined ? undefined : known[write];
      const method = lineMatchWords.fromMessage(match);
      const origin: TracedOrigin =
        found !== undefined && method !== undefined
          ? { type: "recorded", write: found, method, confidence }
          : {
              type: "unknown",
              reason: unknownLineWords.fromMessage(unknown) ?? "not-recorded",
              candidates: candidates.flatMap((each) => known[each] ?? []),
            };
      return { firstLine, lineCount, origin };
    }),
  };
}

export function callTraceToMessage({
  trust,
  written,
  files,
}: CallTrace): MessageInitShape<typeof TraceCallResponseSchema> {
  return {
    trust: { ...trust },
    written,
    files: files.map(({ path, readable, spans }) => ({ path, readable, spans: spans.map((span) => ({ ...span })) })),
  };
}

export function callTraceFromMessage({ trust, written, files }: TraceCallResponse): CallTrace {
  return { trust: { status: trust?.status ?? "", message: trust?.message ?? "" }, written, files };
}

function writeToMessage(write: TracedWrite): MessageInitShape<typeof TracedWriteSchema> {
  const { seq, time, path, sessionId, turnId, call, model, agent, intent, decision, verification } = write;
  const milliseconds = Date.parse(time);
  return {
    seq: BigInt(seq),
    ...(Number.isNaN(milliseconds) ? {} : { time: timestampFromMs(milliseconds) }),
    path,
    sessionId,
    turnId,
    callId: call?.id ?? "",
    tool: call?.tool ?? "",
    model,
    agent: agent ?? "",
    intent: intent ?? "",
    decision: decisionToMessage(decision),
    verification: verification === "untold" ? VerificationState.UNSPECIFIED : verificationWords.toMessage(verification),
    beforeSha256: write.beforeSha256 ?? "",
    afterSha256: write.afterSha256 ?? "",
  };
}

function writeFromMessage(message: TracedWriteMessage): TracedWrite {
  const { seq, time, path, sessionId, turnId, callId, tool, model, agent, intent, decision, verification } = message;
  return {
    seq: Number(seq),
    time: time === undefined ? "" : new Date(timestampMs(time)).toISOString(),
    path,
    sessionId,
    turnId,
    call: callId === "" ? undefined : { id: callId, tool },
    model,
    agent: agent || undefined,
    intent: intent || undefined,
    decision: decisionFromMessage(decision),
    verification: verificationWords.fromMessage(verification) ?? "untold",
    beforeSha256: message.beforeSha256 || undefined,
    afterSha256: message.afterSha256 || undefined,
  };
}

function decisionToMessage(decision: WriteDecision): MessageInitShape<typeof WriteDecisionSchema> {
  if (decision.type === "untold") return {};
  const { type, ...facts } = decision;
  return { kind: decisionKinds.toMessage(type), ...facts };
}

/** A kind from a newer server is reported as unknown: never as an agreement. */
function decisionFromMessage(message: WriteDecisionMessage | undefined): WriteDecision {
  const { rule = "", by = "", step = "", proposalId = "", kept = 0, refused = 0, edited = 0 } = message ?? {};
  switch (decisionKinds.fromMessage(message?.kind)) {
    case "approved":
      return { type: "approved", rule, by, scope: "" };
    case "reviewed":
      return { type: "reviewed", proposalId, kept, refused, edited };
    case "planned":
      return { type: "planned", step, rule };
    case "person":
      return { type: "person" };
    case "allowed":
      return { type: "allowed", rule };
    case undefined:
      return { type: "untold" };
  }
}

const decisionKinds = new EnumWords({
  allowed: WriteDecisionKind.ALLOWED,
  approved: WriteDecisionKind.APPROVED,
  reviewed: WriteDecisionKind.REVIEWED,
  planned: WriteDecisionKind.PLANNED,
  person: WriteDecisionKind.PERSON,
});
