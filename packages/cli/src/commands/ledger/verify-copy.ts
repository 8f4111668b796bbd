import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { originOf } from "@gennai/governance/ledger/anchor/checkpoint";
import { type CopyReport, checkCopy } from "@gennai/governance/ledger/check-copy";
import { readLedgerLine } from "@gennai/governance/ledger/read-ledger-line";
import { readLedgerRecords } from "@gennai/store/audit/ledger-records";
import { ledgerPublicKeyFile, ledgerVerifier } from "@gennai/store/ledger/ledger-key";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { type Said, said } from "../command-host.ts";
import { placeHere } from "../options/resolve-workspace.ts";
import type { LedgerVerifyFlags } from "./ledger-commands.ts";
import { ledgerExitCodes } from "./ledger-exit-codes.ts";

/** `gennai ledger verify --against`: whether others have this ledger as it is. With `--public-key` the copy is checked alone. */
export async function verifyAgainstCopy(
  files: readonly string[],
  flags: LedgerVerifyFlags,
  console: Console,
): Promise<Said> {
  const paths = files.map((file) => resolve(console.directory, file));
  const { stateDir, workspaceRoot } = await placeHere(flags, console);
  const alone = flags.publicKey === undefined ? undefined : resolve(console.directory, flags.publicKey);
  const keys = alone ?? ledgerPublicKeyFile(stateDir);
  const verifier = ledgerVerifier(await readFile(keys, "utf8").catch(unreadable(keys)));
  const own = alone === undefined ? ownLines(stateDir, workspaceRoot) : undefined;
  const report = await checkCopy(linesOf(paths), {
    origin: own?.origin,
    newest: own?.lines.size,
    verifier,
    ...(own === undefined ? {} : { stored: (seq: number) => own.lines.get(seq) }),
  });
  return said(report, `${words(report)}\n`, ledgerExitCodes[report.status]);
}

function ownLines(stateDir: string, workspaceRoot: string) {
  const lines = new Map<number, string>();
  for (let after = 0; ; ) {
    const some = readLedgerRecords(stateDir, workspaceRoot, after, 10_000);
    for (const { seq, json } of some) lines.set(seq, json);
    const last = some.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const first = lines.get(1);
  if (first === undefined)
    throw usageError("There are no records of this workspace here.", "Name it with --workspace.");
  const read = readLedgerLine(first);
  if (read.type !== "record")
    throw usageError("The first record here cannot be read.", "gennai ledger verify says why.");
  return { lines, origin: originOf(read.record.hash) };
}

async function* linesOf(paths: readonly string[]): AsyncGenerator<string, void, undefined> {
  for (const path of paths) {
    const input = createReadStream(path, "utf8");
    try {
      yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
    } catch (error) {
      unreadable(path)(error);
    } finally {
      input.destroy();
    }
  }
}

function words({ status, records, duplicates, contradictions, missing, compared }: CopyReport): string {
  const twice = duplicates === 0 ? "" : `, ${duplicates} of them more than once`;
  return [
    status === "ok"
      ? `ok  the copy has records 1 to ${records}${twice}`
      : `${status}  the copy has ${records} records${twice}`,
    ...contradictions.map((text) => `  wrong    ${terminalSafe(text)}`),
    ...(missing.length === 0 ? [] : [`  missing  ${missing.join(", ")}`]),
    ...(compared === "all" ? [] : [`  limit    ${onlySigned}`]),
    ...(status === "ok" ? [] : ["  next     keep both as evidence: somebody changed one of them, or it was not sent"]),
  ].join("\n");
}

const onlySigned =
  "only what is signed was checked: verdicts and severities can be compared only with the ledger itself";

function unreadable(file: string): (error: unknown) => never {
  return () => {
    throw usageError(`${file} cannot be read.`, "Check the path.");
  };
}
