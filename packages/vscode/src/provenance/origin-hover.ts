import {
  decisionWords,
  methodWords,
  shortWriterWords,
  unknownWords,
  verificationWords,
  whenWords,
} from "@gennai/client/origin-words";
import { hiddenCharacters } from "@gennai/protocol/hidden-characters";
import type { LedgerTrust, TracedOrigin, TracedWrite } from "@gennai/protocol/model/governance/line-trace";

/** A line of a document, counted from 0. */
export interface ShownLine {
  readonly uri: string;
  readonly line: number;
}

/** The hover of a line, as Markdown; all text of records is escaped. */
export function originMarkdown(origin: TracedOrigin, trust: LedgerTrust, place: ShownLine): string {
  const warning =
    trust.status === "ok"
      ? []
      : [`**The ledger is not as it was signed** (${plain(trust.status)}): ${plain(trust.message)}`];
  if (origin.type === "unknown") {
    const candidates = origin.candidates.slice(0, 5).map((write) => `- ${writeWords(write)}`);
    const head = `**Who wrote this line is not known**: ${unknownWords[origin.reason]}.`;
    return [...warning, [head, "", ...candidates].join("\n").trimEnd()].join("\n\n");
  }
  const { write } = origin;
  const facts = [
    ["by", writeWords(write)],
    ["session", sessionWords(write)],
    ["intent", write.intent === undefined ? "none was selected" : plain(write.intent)],
    ["agreed", plain(decisionWords(write.decision))],
    ["checked", verificationWords[write.verification]],
    ["found", `${methodWords[origin.method]} (${Math.round(origin.confidence * 100)} %)`],
  ].map(([name, words]) => `- ${name}: ${words}`);
  const link = `[Show where this came from](${commandLink(place)})`;
  return [...warning, `**Record ${write.seq}**, ${plain(whenWords(write.time))}`, facts.join("\n"), link].join("\n\n");
}

/** A link to a command with one argument. */
function commandLink({ uri, line }: ShownLine): string {
  const args = encodeURIComponent(JSON.stringify([{ uri, line }]));
  // A parenthesis would end the link.
  return `command:gennai.showOrigin?${args.replace(/[()]/g, (bracket) => `%${bracket.charCodeAt(0).toString(16)}`)}`;
}

function writeWords(write: TracedWrite): string {
  const call = write.call === undefined ? "" : `, call ${write.call.id} (${write.call.tool})`;
  return plain(`${shortWriterWords(write)}${call}`);
}

function sessionWords({ sessionId, turnId }: TracedWrite): string {
  if (sessionId === "") return "none is named";
  return plain(`${sessionId.slice(0, 8)}${turnId === "" ? ", between turns" : `, turn ${turnId.slice(0, 8)}`}`);
}

/** Text of a record as plain text: no Markdown, HTML, icons or hidden characters, on one line. */
function plain(text: string): string {
  return text
    .replace(hiddenCharacters, "")
    .replace(/\s+/g, " ")
    .slice(0, 300)
    .replace(/[\\`*_{}[\]()<>#+\-.!|~$&:@/"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
