import { createReadStream } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { anchorWords } from "@gennai/governance/ledger/anchor/anchor-words";
import { type Judged, withAnchors } from "@gennai/governance/ledger/anchor/judged-by-anchors";
import { recordLines } from "@gennai/governance/ledger/laid-out-records";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { rotateLedgerKey } from "@gennai/store/audit/ledger-key-rotation";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { acceptRollback } from "@gennai/store/ledger/accept-rollback";
import { ledgerPublicKeyFile } from "@gennai/store/ledger/ledger-key";
import { CliError } from "../../terminal/cli-error.ts";
import { type Paint, paintFor } from "../../terminal/colours.ts";
import { asTyped, type Console, commandName } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";
import { type Said, said } from "../command-host.ts";
import { parseCount } from "../options/option-values.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";
import { ledgerExitCodes, type WorkspaceLedgerReport } from "./ledger-exit-codes.ts";
import { describeRecord } from "./record-line.ts";

export interface LedgerVerifyFlags extends WorkspaceFlags {
  /** Check as a third party: signatures and chain by this key alone. */
  readonly publicKey?: string;
  /** Check this exported file in place of the workspace's ledger. */
  readonly bundle?: string;
  /** Files that other systems have of this ledger. */
  readonly against?: readonly string[];
  /** Witness files. */
  readonly anchors?: readonly string[];
  /** Verifier keys of witnesses. */
  readonly witness?: readonly string[];
}

export interface LedgerShowFlags extends WorkspaceFlags {
  readonly limit?: string;
  readonly json?: boolean;
}

/** `gennai ledger verify`. The exit code tells what is wrong, see `ledgerExitCodes`. */
export async function ledgerVerifyCommand(flags: LedgerVerifyFlags, console: Console): Promise<Said> {
  if (flags.bundle !== undefined) return verifyBundle(flags.bundle, flags, console);
  if (flags.against !== undefined) {
    const { verifyAgainstCopy } = await import("./verify-copy.ts");
    return verifyAgainstCopy(flags.against, flags, console);
  }
  const place = await placeHere(flags, console);
  const ledger = new WorkspaceLedger(place);
  const key = flags.publicKey === undefined ? undefined : resolve(console.directory, flags.publicKey);
  const report = await ledger.verify(key);
  const anchors =
    report.status === "ok" && report.records > 0
      ? await ledger.anchors({ ...anchorSources(flags, console), repository: place.workspaceRoot }, key)
      : undefined;
  // Git's notes are always searched, so it is no news if they have no anchor.
  const judged = withAnchors(report, anchors?.found === 0 && flags.anchors === undefined ? undefined : anchors);
  return said(judged, reportText(judged, console), ledgerExitCodes[judged.status]);
}

/** `gennai ledger repair`: rebuilds the file from the store, else cuts off a torn last line; a copy is kept. */
export async function ledgerRepairCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const repair = await new WorkspaceLedger(await placeHere(flags, console)).repair();
  const { action, backup, report } = repair;
  const kept = backup === undefined ? "" : `The file as it was: ${backup}\n`;
  const text = `${repairWords[action]}\n${kept}${reportText(report, console)}`;
  return said(repair, text, ledgerExitCodes[report.status]);
}

/** `gennai ledger show`: the last records, for a user; with `--json` as written in the file. */
export async function ledgerShowCommand(flags: LedgerShowFlags, console: Console): Promise<number> {
  const limit = parseCount(flags.limit, "--limit", 1_000_000) ?? 20;
  const text = await ledgerText(flags, console);
  const paint = paintFor(console.output, console.environment);
  const lines = recordLines(text);
  const older = Math.max(0, lines.length - limit);
  if (older > 0 && flags.json !== true) {
    const all = `${commandName(console.environment)} ledger show --limit ${lines.length}`;
    console.output.write(`${paint("dim", `… ${older} older: ${all}`)}\n`);
  }
  for (const line of lines.slice(-limit)) {
    console.output.write(`${flags.json === true ? line : describeRecord(line, paint)}\n`);
  }
  return exitCode.ok;
}

/** `gennai ledger rotate-key`: makes a new signing key, and hands every ledger of the state directory over to it. */
export async function ledgerRotateKeyCommand(_flags: object, console: Console): Promise<Said> {
  const stateDir = defaultStateDir(console.environment);
  const rotation = await rotateLedgerKey({ stateDir, toolVersion: version, now: Date.now });
  const { from, to, workspaceRoots, warnings } = rotation;
  for (const warning of warnings) console.errors.write(`${terminalSafe(warning)}\n`);
  const lines = [
    `The key ${to} signs from now on; ${workspaceRoots.length} ledgers were handed over by ${from}.`,
    ...workspaceRoots.map((root) => `  ${terminalSafe(root)}`),
    `Public keys: ${ledgerPublicKeyFile(stateDir)}`,
  ];
  return said(rotation, `${lines.join("\n")}\n`);
}

/** `gennai ledger accept-rollback`: gives missing records up as lost, which the ledgers then record. */
export async function ledgerAcceptRollbackCommand(_flags: object, console: Console): Promise<Said> {
  const stateDir = defaultStateDir(console.environment);
  const accepted = await acceptRollback({ stateDir, toolVersion: version, now: Date.now });
  const { stepBacks, kept, warnings } = accepted;
  for (const warning of warnings) console.errors.write(`${terminalSafe(warning)}\n`);
  const told = [
    ...stepBacks.map(({ message }) => message),
    stepBacks.length === 0
      ? "Nothing that was signed is missing: there is nothing to accept."
      : `Accepted: the ledgers say so from now on. What was signed before is kept in ${kept}`,
  ];
  return said(accepted, told.map((line) => `${terminalSafe(line)}\n`).join(""));
}

/** The workspace's ledger as it is written. Throws `CliError` without one. */
export async function ledgerText(flags: WorkspaceFlags, console: Console): Promise<string> {
  const { file } = new WorkspaceLedger(await placeHere(flags, console));
  return readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError(`There is no ledger at ${file}.`, {
      next: [
        "Nothing was recorded here yet, or it was removed: gennai ledger verify says which, gennai ledger repair brings it back.",
      ],
      cause: error,
    });
  });
}

async function verifyBundle(name: string, flags: LedgerVerifyFlags, console: Console): Promise<Said> {
  const file = resolve(console.directory, name);
  await access(file).catch(unreadable(file));
  const publicKey =
    flags.publicKey === undefined ? undefined : await readText(resolve(console.directory, flags.publicKey));
  const { verifyAnchoredBundle } = await import("@gennai/store/audit/ledger-anchors");
  // For a bundle, only the named files are searched for anchors.
  const anchors = flags.anchors === undefined ? undefined : { ...anchorSources(flags, console), repository: undefined };
  const report = await verifyAnchoredBundle(() => createReadStream(file), publicKey, anchors);
  const paint = paintFor(console.output, console.environment);
  const lines = [
    `${paint(report.status === "ok" ? "green" : "red", report.status)}  ${terminalSafe(report.message)}`,
    `  file     ${file}`,
    `  records  ${report.records} signed, ${report.purged} of them without content`,
    `  key      ${terminalSafe(report.keyId)}${report.keyIsGiven ? "" : ", the bundle's own: compare it with the signer's, or name it with --public-key"}`,
    ...anchorLines(report),
    ...(report.problem === undefined ? [] : [`  first    seq ${report.problem.seq}, byte ${report.problem.offset}`]),
    ...report.notes.map(({ code, line }) => `  note     line ${line}: ${code.replaceAll("_", " ")}`),
  ];
  return said({ ...report, file }, `${lines.join("\n")}\n`, ledgerExitCodes[report.status]);
}

/** The sources of anchors that options name; git's notes are another one. */
function anchorSources(flags: LedgerVerifyFlags, console: Pick<Console, "directory">) {
  return {
    files: (flags.anchors ?? []).map((file) => resolve(console.directory, file)),
    witnesses: flags.witness ?? [],
  };
}

function anchorLines({ anchors }: Pick<Judged<WorkspaceLedgerReport>, "anchors">): readonly string[] {
  return anchors === undefined ? [] : anchorWords(anchors).map((words) => `  anchored ${terminalSafe(words)}`);
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(unreadable(file));
}

function unreadable(file: string): (error: unknown) => never {
  return (error) => {
    throw new CliError(`${file} cannot be read.`, {
      exitCode: exitCode.usage,
      next: ["Check the path."],
      cause: error,
    });
  };
}

const repairWords = {
  nothing: "Nothing to repair.",
  cut_torn_line: "The incomplete last line was removed.",
  rebuilt_from_store: "The file was written again from the store.",
} as const;

function reportText(report: Judged<WorkspaceLedgerReport>, console: Console): string {
  const text = describeReport(report, paintFor(console.output, console.environment));
  return `${asTyped(text, console.environment)}\n`;
}

function describeReport(report: Judged<WorkspaceLedgerReport>, paint: Paint): string {
  const { status, message, problem, compared } = report;
  const checked = [
    "signatures",
    "chain",
    ...(compared.head ? ["signed head"] : []),
    ...(compared.store ? ["store"] : []),
  ];
  return [
    `${paint(status === "ok" ? "green" : "red", status)}  ${message}`,
    `  file     ${report.file}`,
    `  records  ${report.records} signed${report.purged > 0 ? `, ${report.purged} of them purged` : ""}${report.unsigned > 0 ? `, ${report.unsigned} unsigned before them` : ""}`,
    `  checked  ${checked.join(", ")}`,
    ...report.rollbacks.map(
      ({ seq, from, to }) => `  lost     ${lostWords(from, to)}: record ${seq} says so, and somebody accepted it`,
    ),
    ...(problem === undefined ? [] : [`  first    seq ${problem.seq}, line ${problem.line}, byte ${problem.offset}`]),
    ...anchorLines(report),
    ...report.notes.map(({ code, line }) => `  note     line ${line}: ${noteWords[code] ?? code.replaceAll("_", " ")}`),
    ...(status === "ok"
      ? []
      : [
          nextSteps[status] ??
            "  next     keep the file as evidence; gennai ledger repair keeps a copy before it changes anything",
        ]),
  ].join("\n");
}

const noteWords: Readonly<Partial<Record<string, string>>> = {
  laid_out:
    "records over several lines, as the first format of the ledger had them. They are unsigned, and stay as they are; new\n" +
    "           records go below them, and the first of those signs for their bytes. There is nothing to do.",
};

function lostWords(from: number, to: number): string {
  if (from <= to) return "sessions, or what was signed";
  return from === to + 1 ? `a record ${from}` : `records ${to + 1} to ${from}`;
}

const nextSteps: Partial<Record<Judged<WorkspaceLedgerReport>["status"], string>> = {
  no_key: "  next     gennai ledger verify --public-key FILE",
  unknown_key: "  next     gennai ledger verify --public-key FILE, with the key of the one who signed",
  rolled_back:
    "  next     put the newer database back; if it is lost for good: gennai ledger accept-rollback, which the ledger records",
  contradicts_anchor:
    "  next     keep both as evidence: somebody with the key signed two histories, or an old ledger was put back",
  missing_file: "  next     gennai ledger repair brings it back from the store",
};
