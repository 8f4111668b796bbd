import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Connection } from "@gennai/governance/connection";
import { type LedgerEntry, outsideTurns } from "@gennai/governance/ledger/ledger-entry";
import type { Redactor } from "@gennai/governance/redaction";
import type { FileChange } from "@gennai/governance/tool";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { withMaskedPaths } from "@gennai/machine/redaction/masked-paths";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { type LedgerStore, openLedgerStore } from "./open-ledgers.ts";

export interface PersonsLedgerOptions {
  readonly stateDir: string;
  /** Real path. */
  readonly workspaceRoot: string;
  readonly toolVersion?: string | undefined;
  readonly onWarning: (text: string) => void;
}

/** The ledger of one workspace, for what a person does without a session and without a server. */
export class PersonsLedger implements AsyncDisposable {
  readonly #options: PersonsLedgerOptions;
  readonly #ledgers: LedgerStore;
  readonly #redactor: Redactor;

  /** Rejects with `StoreError` if nothing can be recorded; then the person's act must not be done. */
  static async open(options: PersonsLedgerOptions): Promise<PersonsLedger> {
    const { stateDir, toolVersion, onWarning } = options;
    const redactor = await createRedactor();
    return new PersonsLedger(options, await openLedgerStore(stateDir, { toolVersion, onWarning }), redactor);
  }

  private constructor(options: PersonsLedgerOptions, ledgers: LedgerStore, redactor: Redactor) {
    this.#options = options;
    this.#ledgers = ledgers;
    this.#redactor = redactor;
  }

  /** Durable when it resolves. Masks secrets in texts. Rejects with `StoreError`. */
  async record(
    kind: "review" | "applied" | "undo" | "outcome" | "session",
    details: Readonly<Record<string, string | readonly string[]>>,
    {
      files = [],
      connections,
    }: { readonly files?: readonly FileChange[]; readonly connections?: readonly Connection[] } = {},
  ): Promise<void> {
    const { workspaceRoot } = this.#options;
    const head = readGitHead(workspaceRoot);
    const entry: LedgerEntry = {
      ...outsideTurns,
      kind,
      time: Date.now(),
      revision: (head.type === "none" ? undefined : head.commit) ?? "",
      files: await withMaskedPaths(files, this.#redactor),
      details: { ...(await this.#masked(details)), ...(connections === undefined ? {} : { connections }) },
    };
    const { database, table } = this.#ledgers;
    database.transaction({ durable: true }, () => table.append(table.workspace(workspaceRoot), [entry]));
    table.changed(workspaceRoot);
  }

  async #masked(
    details: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const masked: Record<string, unknown> = {};
    const mask = (text: string): Promise<string> => this.#redactor.redact(text);
    for (const [name, value] of Object.entries(details)) {
      masked[name] = typeof value === "string" ? await mask(value) : await Promise.all(value.map(mask));
    }
    return masked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ledgers[Symbol.asyncDispose]();
  }
}

/** What a person decided about how a workspace is governed, by the names in `actWords`, e.g. `{intents_mode: "off", …}`. */
export type GoverningAct = Readonly<Record<string, string | readonly string[]>>;

/**
 * Records a person's decision in the workspace's ledger; call it before the decision takes effect. Rejects with `StoreError` if
 * it cannot be recorded: then it must not take effect. Does nothing in a directory without repository and ledger.
 */
export async function recordAct(act: GoverningAct, options: PersonsLedgerOptions): Promise<void> {
  const { workspaceRoot } = options;
  if (!existsSync(join(workspaceRoot, ".orchestration")) && !isInRepository(workspaceRoot)) return;
  await using ledger = await PersonsLedger.open(options);
  await ledger.record("session", act);
}

/** Looks upwards, because a workspace can be a part of a repository. */
function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, ".git"))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInRepository(parent);
}
