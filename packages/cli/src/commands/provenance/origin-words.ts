import * as words from "@gennai/client/origin-words";
import type { WriteDecision } from "@gennai/protocol/model/governance/line-trace";
import type { RecordedWrite } from "@gennai/provenance/matching/recorded-write";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Who wrote: a model in a session, or a person. */
export function writerWords(write: RecordedWrite): string {
  return terminalSafe(words.writerWords(write));
}

/** Who let it happen. */
export function decisionWords(decision: WriteDecision): string {
  return terminalSafe(words.decisionWords(decision));
}
