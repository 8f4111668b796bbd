import { basename, dirname } from "node:path/posix";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { isLedgerFileName } from "@gennai/store/ledger/file/ledger-file-name";
import { type FileOrigins, originsBetween } from "./commit-origins.ts";
import type { RecordedWrite } from "./matching/recorded-write.ts";
import type { AskedCall } from "./read-decisions.ts";
import type { SharedPart } from "./shared-parts.ts";
import { sharedWrite } from "./shared-parts.ts";
import type { ProvenanceTrust, WorkspaceProvenance } from "./workspace-provenance.ts";

/** New lines, by what is known of them. */
export interface LineCounts {
  /** Recorded, and looked at afterwards. */
  readonly verified: number;
  /** Recorded, and nothing proves the result. */
  readonly unverified: number;
  /** Recorded, and looked at afterwards: not as it should be. */
  readonly failed: number;
  /** Done by a person through Gennai. */
  readonly person: number;
  /** Not known: people's, or nothing says whose. */
  readonly unknown: number;
}

export interface ReportedFile {
  readonly path: string;
  readonly kind: "added" | "changed" | "deleted";
  /** False: it is no text, or too large; its lines are not analysed. */
  readonly isText: boolean;
  readonly added: LineCounts;
  readonly removed: number;
  /** Numbers of the ledger's records. */
  readonly records: readonly number[];
}

/** How much of a change recorded calls wrote, and what was decided about them. */
export interface ChangeReport {
  /** Ids of commits. */
  readonly from: string;
  readonly to: string;
  /** RFC 3339. */
  readonly made: string;
  readonly trust: ProvenanceTrust;
  readonly lines: LineCounts;
  readonly files: readonly ReportedFile[];
  /** Models and agents, with the new lines that they wrote; the most first. */
  readonly writers: readonly { readonly name: string; readonly lines: number }[];
  /** An empty `id`: no intent was selected. */
  readonly intents: readonly { readonly id: string; readonly lines: number; readonly files: number }[];
  readonly decisions: readonly { readonly type: RecordedWrite["decision"]["type"]; readonly lines: number }[];
  /** Questions and refusals in the sessions that wrote the change, and in others since the branch began. */
  readonly asked: readonly (Omit<AskedCall, "sessionId"> & { readonly isOfChange: boolean })[];
  /** Files with lines of the agent's of which nothing proves the result, or something disproves it. */
  readonly withoutVerification: readonly string[];
  /** False: it was not chosen, all lines of the agent count as `unverified`, and nothing may be concluded from that. */
  readonly isVerificationTold: boolean;
}

/** @param parts what of writes and people is told */
export async function changeReport(
  provenance: WorkspaceProvenance,
  about: {
    readonly workspaceRoot: string;
    readonly from: string;
    readonly to: string;
    /** When `from` was committed, in milliseconds since the epoch. */
    readonly since: number;
    readonly parts: ReadonlySet<SharedPart>;
    readonly now: () => number;
  },
): Promise<ChangeReport> {
  const { workspaceRoot, from, to, parts, since } = about;
  const origins = (await originsBetween(provenance, workspaceRoot, from, to)).filter(
    // The ledger itself was written by no one, and so was what keeps it out of commits.
    ({ file: { path } }) =>
      dirname(path) !== ledgerDirectory || (!isLedgerFileName(basename(path)) && basename(path) !== ".gitignore"),
  );
  const tallies = new Tallies(parts);
  const files = origins.map((each) => tallies.take(each));
  const asked = parts.has("decision") ? provenance.decisions : [];
  return {
    from,
    to,
    made: new Date(about.now()).toISOString(),
    trust: provenance.trust,
    lines: files.reduce((sum, { added }) => plus(sum, added), noLines),
    files,
    writers: descending(tallies.writers).map(([name, lines]) => ({ name, lines })),
    intents: descending(tallies.intents).map(([id, lines]) => ({
      id,
      lines,
      files: tallies.filesOfIntent.get(id)?.size ?? 0,
    })),
    decisions: descending(tallies.decisions).map(([type, lines]) => ({ type, lines })),
    asked: asked.flatMap(({ sessionId, by, ...rest }) => {
      const isOfChange = tallies.sessions.has(sessionId);
      if (!isOfChange && Date.parse(rest.time) < since) return [];
      return { ...rest, by: parts.has("people") ? by : "", isOfChange };
    }),
    isVerificationTold: parts.has("verification"),
    withoutVerification: parts.has("verification")
      ? files.filter(({ added }) => added.unverified + added.failed > 0).map(({ path }) => path)
      : [],
  };
}

const noLines: LineCounts = { verified: 0, unverified: 0, failed: 0, person: 0, unknown: 0 };

class Tallies {
  readonly sessions = new Set<string>();
  readonly writers = new Map<string, number>();
  readonly intents = new Map<string, number>();
  readonly filesOfIntent = new Map<string, Set<string>>();
  readonly decisions = new Map<RecordedWrite["decision"]["type"], number>();
  readonly #parts: ReadonlySet<SharedPart>;

  constructor(parts: ReadonlySet<SharedPart>) {
    this.#parts = parts;
  }

  take({ file, origins }: FileOrigins): ReportedFile {
    const counts = { ...noLines };
    const records = new Set<number>();
    for (const origin of origins.values()) {
      if (origin.type === "unknown") {
        counts.unknown += 1;
        continue;
      }
      this.sessions.add(origin.write.sessionId);
      records.add(origin.write.seq);
      const write = sharedWrite(origin.write, this.#parts);
      const isPerson =
        origin.write.model === "" && origin.write.agent === undefined && origin.write.decision.type === "person";
      counts[isPerson ? "person" : write.verification === "untold" ? "unverified" : write.verification] += 1;
      const name = write.agent ?? write.model;
      if (name !== "") this.writers.set(name, (this.writers.get(name) ?? 0) + 1);
      if (isPerson) continue;
      const intent = write.intent ?? "";
      this.intents.set(intent, (this.intents.get(intent) ?? 0) + 1);
      this.filesOfIntent.set(intent, (this.filesOfIntent.get(intent) ?? new Set<string>()).add(file.path));
      this.decisions.set(write.decision.type, (this.decisions.get(write.decision.type) ?? 0) + 1);
    }
    return {
      path: file.path,
      kind: file.kind,
      isText: file.text !== undefined || file.kind === "deleted",
      added: counts,
      removed: file.removedLines,
      records: [...records].sort((one, other) => one - other),
    };
  }
}

function plus(one: LineCounts, other: LineCounts): LineCounts {
  return {
    verified: one.verified + other.verified,
    unverified: one.unverified + other.unverified,
    failed: one.failed + other.failed,
    person: one.person + other.person,
    unknown: one.unknown + other.unknown,
  };
}

function descending<Key>(counts: ReadonlyMap<Key, number>): readonly (readonly [Key, number])[] {
  return [...counts].sort(([, one], [, other]) => other - one);
}
